/**
 * Entry `@workshop/core/internal/http`: the parts of the HTTP interface that the server, the sandbox and the command
 * line of this project share, and that no embedder needs. They may change in any release.
 *
 * @internal
 */

export { type Check, Checks, Rejected, runChecks } from "../http/Checks.js"
export { BodyLimit, EmptyBody, type GroupHandlers, router, routes } from "../http/Endpoint.js"
export { FailureBodyOf, RepeatableMeta, SuccessBody, SuccessBodyWithMeta, status201 } from "../http/Envelope.js"
export {
  bodyCheck,
  endpointHandler,
  headCheck,
  refusalCheck,
  routeCheck,
  validationCheck
} from "../http/endpointChecks.js"
export { mountOptions, mountPromise } from "../http/Mount.js"
export { namedSchemas, normalizeSchema, responseSchema, toJson, withReferences } from "../http/openapi/Schemas.js"
export { newContext } from "../http/Pipeline.js"
export { respond, respondToCause } from "../http/respond.js"
export { createdTicketResponse } from "../http/successResponse.js"
