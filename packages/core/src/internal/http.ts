/**
 * Entry `@workshop/core/internal/http`: the parts of the HTTP interface that the server, the sandbox and the command
 * line of this project share, and that no embedder needs. They may change in any release.
 *
 * @internal
 */

export { type Check, Checks, Rejected, runChecks } from "../http/Checks.js"
export { BodyLimit, compileRoutes, EmptyBody, type GroupHandlers, makeRouter } from "../http/Endpoint.js"
export { FailureBodyOf, RepeatableMeta, SuccessBody, SuccessBodyWithMeta, withStatus201 } from "../http/Envelope.js"
export {
  makeBodyCheck,
  makeEndpointHandler,
  makeHeadCheck,
  makeRefusalCheck,
  makeRouteCheck,
  makeValidationCheck
} from "../http/endpointChecks.js"
export { mountOptions, mountPromise } from "../http/Mount.js"
export { collectSchemas, normalizeSchema, toJson, toResponseSchema, withReferences } from "../http/openapi/Schemas.js"
export { newContext } from "../http/Pipeline.js"
export { respond, respondToCause } from "../http/respond.js"
export { createdTicketResponse } from "../http/successResponse.js"
