import { readFile } from "node:fs/promises"
import { consoleAssets } from "@workshop/console"
import type { RouteGroup } from "@workshop/core/http"
import type { Page } from "@workshop/core/internal"
import { Effect } from "effect"
import { runOnce } from "../coalesce.js"
import { constantBody, constantPage, guardPage, pageGroup } from "../staticPages.js"

const file = (type: string, name: string) =>
  runOnce(Effect.promise(async () => constantBody(type, await readFile(new URL(name, consoleAssets)))))

const parts = () => ({
  "/console": file("text/html; charset=utf-8", "console.html"),
  "/console/console.js": file("text/javascript; charset=utf-8", "console.js"),
  "/console/console.css": file("text/css; charset=utf-8", "console.css")
})

/** Redirects to a relative URL, so that it also works behind a proxy that adds a path prefix. */
const redirectTo = (location: string): Page => ({ status: 307, headers: { Location: location }, body: "" })

/**
 * The page `/console`, on which a tester watches and controls the sandbox, and `/`, which redirects to it. The page
 * contains no data of a shop, so it needs no token, unlike its requests to the sandbox.
 */
export const consolePages: Effect.Effect<ReadonlyArray<RouteGroup>> = Effect.map(Effect.sync(parts), (known) => [
  pageGroup("/", ({ path }) => (path === "/" ? Effect.succeed(redirectTo("console")) : undefined)),
  pageGroup("/console", (request) => {
    if (request.path === "/console/") return Effect.succeed(redirectTo("../console"))
    const part = known[request.path as keyof typeof known]
    return part && Effect.map(part, (body) => guardPage(constantPage(body, request)))
  })
])
