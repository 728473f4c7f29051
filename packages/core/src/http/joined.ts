/** Entry `@workshop/core/http/joined`: the API's groups as a part of your own `HttpApi` of `@effect/platform`, and one format of errors. */

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
