import * as FindMyWay from "find-my-way-ts"
import { Limits } from "../domain/Limits.js"
import type { Route } from "./Endpoint.js"

/** A route that a path leads to, with the path's parameters. */
export interface RouteMatch {
  readonly route: Route
  readonly path: unknown
}

/** One path, one spelling: a client that forgot an id must not get the list (Specification, Errors: an unknown route is 404). */
const EXACTLY = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Limits.url_characters
} as const

/** Whether each fixed segment of a route's path was sent as it is written: the tree would take `%63lients` for `clients`. */
const isAsSent = (route: string, path: string): boolean => {
  if (!path.includes("%")) return true
  const sent = path.split("/")
  return route.split("/").every((segment, i) => segment.startsWith(":") || segment === sent[i])
}

/** Finds routes by method and path. A path without a route, or with another's method, finds nothing. */
export const router = (routes: ReadonlyArray<Route>): ((method: string, path: string) => RouteMatch | undefined) => {
  const tree = FindMyWay.make<Route>(EXACTLY)
  for (const route of routes) tree.on(route.method, route.path, route)
  // The tree looks a method up in a plain object, in which it would also find `constructor` and `toString`.
  const methods = new Set<string>(routes.map(({ method }) => method))
  return (method, path) => {
    if (!methods.has(method)) return undefined
    // The tree would cut off what follows the one, so that it vanished unread, and take nothing for a parameter at the other.
    if (path.includes(";") || path.includes("#") || path.endsWith("/") || path.includes("//")) return undefined
    const found = tree.find(method, path)
    return found === undefined || !isAsSent(found.handler.path, path)
      ? undefined
      : { route: found.handler, path: found.params }
  }
}
