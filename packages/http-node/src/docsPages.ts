import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { RouteGroup } from "@workshop/core/http"
import type { Page } from "@workshop/core/internal"
import { Effect } from "effect"
import { runOnce } from "./coalesce.js"
import { constantBody, constantPage, guardPage, pageGroup } from "./staticPages.js"

/**
 * The folder with the page's files. The page has relative URLs, so that it also works behind a proxy that adds a path
 * prefix.
 */
const pages = new URL("../pages/", import.meta.url)

/** The file of RapiDoc. The published package contains it; in a clone it is in node_modules. */
const reader = () => {
  const packedFile = new URL("../assets/rapidoc-min.js", import.meta.url)
  return existsSync(packedFile) ? packedFile : createRequire(import.meta.url).resolve("rapidoc/dist/rapidoc-min.js")
}

const file = (type: string, path: () => string | URL) =>
  runOnce(Effect.promise(async () => constantBody(`${type}; charset=utf-8`, await readFile(path()))))

const parts = () => ({
  "/docs": file("text/html", () => new URL("docs.html", pages)),
  "/docs/start.js": file("text/javascript", () => new URL("start.js", pages)),
  "/docs/docs.css": file("text/css", () => new URL("docs.css", pages)),
  "/docs/rapidoc-min.js": file("text/javascript", reader)
})

/**
 * Redirects /docs/ to /docs, because the page's relative URLs need a path without a slash at the end. The redirect is
 * relative, for proxies that add a path prefix.
 */
const withoutSlash: Page = { status: 308, headers: { Location: "../docs" }, body: "" }

/**
 * The page `/docs`, on which a person can read about the API and try it with a key. It sends no request to other hosts
 * (Specification, Commands).
 */
export const docsPages: Effect.Effect<RouteGroup> = Effect.map(Effect.sync(parts), (known) =>
  pageGroup("/docs", (request) => {
    if (request.path === "/docs/") return Effect.succeed(withoutSlash)
    const part = known[request.path as keyof typeof known]
    return part && Effect.map(part, (body) => guardPage(constantPage(body, request)))
  })
)
