/**
 * Entry `@workshop/core/http/joined`: for programs with an `HttpApi` of `@effect/platform` of their own. It has the
 * API's groups as a part of that `HttpApi`, and one format of errors for both.
 *
 * @example
 * ```ts
 * import { apiBehind, CurrentCaller, groups } from "@workshop/core/http/joined"
 * ```
 *
 * @packageDocumentation
 */

export { errorFormat } from "./ErrorFormat.js"
export {
  type ApiGroupName,
  ApiKeys,
  apiBehind,
  type CallerMiddleware,
  CurrentCaller,
  type GroupsOptions,
  groups,
  type ServicesOfGroups
} from "./httpApi.js"
