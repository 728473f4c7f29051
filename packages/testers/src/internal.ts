/**
 * Entry `@workshop/testers/internal`: the HTTP client that every command of this project shares with the tools, and that
 * no test needs. They may change in any release. It loads no part of the service.
 *
 * @internal
 */

export {
  Api,
  type ApiResponse,
  dataOf,
  type Exchange,
  envelopeOf,
  type NoResponse
} from "./testkit/Api.js"
export { type CallName, type CallParts, requestOf, type SandboxCall } from "./testkit/Calls.js"
