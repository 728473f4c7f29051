import * as FindMyWay from "find-my-way-ts"
import { Limits } from "../domain/Limits.js"
import type { Route } from "./Endpoint.js"

/** A route that a path leads to, with the path's parameters. */
export interface Found<C> {
  readonly route: Route<C>
  readonly path: unknown
}

/** Finds routes by method and path. A path without a route, or with another's method, finds nothing. */
export const router = <C>(
  routes: ReadonlyArray<Route<C>>
): ((method: string, path: string) => Found<C> | undefined) => {
  const tree = FindMyWay.make<Route<C>>({ maxParamLength: Limits.url_characters })
  for (const route of routes) tree.on(route.method, route.path, route)
  return (method, path) => {
    const found = tree.find(method, path)
    return found === undefined ? undefined : { route: found.handler, path: found.params }
  }
}
