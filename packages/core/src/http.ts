/** Entry `@workshop/core/http`: the API as a request handler: mounts for frameworks, authentication of your own, and what an adapter is built from. */

export { addressLimit, addressUse, ambiguousHead, bearer } from "./http/Admission.js"
export { refused } from "./http/EffectAnswer.js"
export { httpApp } from "./http/EffectMount.js"
export { type HandlerResult, type Handlers, Nothing, routes } from "./http/Endpoint.js"
export {
  FailureBodyOf,
  failureBody,
  RepeatableMeta,
  SuccessBody,
  SuccessBodyWithMeta,
  status201
} from "./http/Envelope.js"
export {
  type AdmissionRefusal,
  errorCodes,
  type Failure,
  failureRows,
  givenTwice,
  type RequestIssue
} from "./http/ErrorTable.js"
export {
  BodyIncomplete,
  BodyTooLarge,
  bodyText,
  type HttpRequest,
  type HttpResponse,
  isHeaderRepeated
} from "./http/HttpMessage.js"
export { type CallerFields, type Mountable, type MountOptions, mountFetch, mountPromise } from "./http/Mount.js"
export { type Pipeline, pipeline, type RequestObserver, requestId } from "./http/Pipeline.js"
export { causeResponse, type RouteGroup, respondWith } from "./http/RouteGroup.js"
export { type RouteMatch, router } from "./http/Router.js"
export { failureResponse, internalError, pageResponse, type RequestContext, successResponse } from "./http/responses.js"
export { webHandler } from "./http/WebHandler.js"
export { WorkshopApi } from "./http/WorkshopApi.js"
export { createdTicket } from "./http/workshopHandlers.js"
export { workshopRoutes } from "./http/workshopRoutes.js"
