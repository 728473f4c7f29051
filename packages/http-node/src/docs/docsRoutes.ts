import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  failureResponse,
  type HttpResponse,
  pageResponse,
  type RequestContext,
  type RouteGroup
} from "@workshop/core/http"
import { Effect } from "effect"
import { type ConstantBody, constantBody, sendConstant } from "../ConstantBody.js"
import { onceAsked } from "../coalesce.js"
import { docsHtml, docsScript } from "./docsPage.js"

/** Packed with the package; in a clone they are still where npm put them. */
const packed = fileURLToPath(new URL("../../assets/", import.meta.url))
const folder = () =>
  existsSync(packed) ? packed : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))

/**
 * Nothing comes from elsewhere, and nothing goes elsewhere: neither the key that is typed in nor what is answered.
 * Styles in attributes are how the reader lays itself out.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const file = (type: string, name: string) =>
  onceAsked(Effect.promise(async () => constantBody(type, await readFile(join(folder(), name)))))

const parts = (): Readonly<Record<string, Effect.Effect<ConstantBody>>> => ({
  "/docs": Effect.succeed(constantBody("text/html; charset=utf-8", docsHtml)),
  "/docs/start.js": Effect.succeed(constantBody("text/javascript; charset=utf-8", docsScript)),
  "/docs/swagger-ui-bundle.js": file("text/javascript; charset=utf-8", "swagger-ui-bundle.js"),
  "/docs/swagger-ui.css": file("text/css; charset=utf-8", "swagger-ui.css")
})

const shown = (departure: HttpResponse): HttpResponse => ({
  ...departure,
  headers: {
    ...departure.headers,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer"
  }
})

/** The page's addresses hold without a slash at the end, and this one too where a proxy adds a path. */
const withoutSlash = (stamp: RequestContext): HttpResponse => ({
  status: 308,
  headers: { ...pageResponse("", stamp).headers, Location: "../docs" },
  body: ""
})

/** `/docs`: a page to read the API and to try it with a key that is typed in. It asks nothing of any other host (Specification, Commands). */
export const docsRoutes: Effect.Effect<RouteGroup> = Effect.map(Effect.sync(parts), (known) => ({
  prefix: "/docs",
  answer: (arrival, stamp) => {
    const { method, path } = arrival
    const isRead = method === "GET" || method === "HEAD"
    if (isRead && path === "/docs/") return Effect.succeed(withoutSlash(stamp))
    const part = isRead ? known[path] : undefined
    return part === undefined
      ? Effect.succeed(failureResponse({ _tag: "RouteNotFound" }, stamp, []))
      : Effect.map(part, (body) => shown(sendConstant(body, arrival, stamp)))
  }
}))
