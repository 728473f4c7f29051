/** Entry `@workshop/core/http`: the API as a request handler: mounts for frameworks, authentication of your own, and what an adapter is built from. */

export { checkedOptions, isBoolean, OptionRefused } from "./domain/OptionChecks.js"
export type { TrackingStep, TrackingView } from "./domain/TrackingView.js"
export { bearer } from "./http/authentication.js"
export {
  type AuthenticatedRequest,
  addressUse,
  bodyCheck,
  type Check,
  type CheckedRequest,
  type CheckResult,
  Checks,
  endpointHandler,
  headCheck,
  type LastStep,
  type LimitCheck,
  type ReadRequest,
  Rejected,
  type RoutedRequest,
  refusing,
  respondAfter,
  routeCheck,
  type StepDescription,
  type ValidRequest,
  validationCheck
} from "./http/checks.js"
export { httpApp, refused } from "./http/EffectMount.js"
export {
  type GroupHandlers,
  type Handlers,
  LargestBody,
  Nothing,
  type RouteMatch,
  router,
  routes
} from "./http/Endpoint.js"
export {
  FailureBodyOf,
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
export { type ExhaustedLimits, exhaustedLimits } from "./http/ExhaustedLimits.js"
export {
  BodyIncomplete,
  BodyTooLarge,
  bodyText,
  type Follow,
  type HandlerResult,
  type HttpRequest,
  type HttpResponse,
  isHeaderRepeated,
  type Page
} from "./http/HttpMessage.js"
export {
  type CallerFields,
  type Mountable,
  type MountOptions,
  mountFetch,
  mountOptions,
  mountPromise,
  webHandler
} from "./http/Mount.js"
export { newContext, type Pipeline, pipeline, type RequestObserver, type RouteGroup } from "./http/Pipeline.js"
export { type ObservedResponse, type RequestContext, respond, respondToCause } from "./http/respond.js"
export { createdTicket, type DataOf, type SuccessResponse, successResponse } from "./http/successResponse.js"
export { escaped, Html, html } from "./http/tracking/Html.js"
export type { TrackingLanguage, TrackingLocale } from "./http/tracking/TrackingLanguage.js"
export { trackingTemplate } from "./http/tracking/TrackingTemplate.js"
export { type TrackingWords, trackingWords } from "./http/tracking/TrackingWords.js"
export { type TrackingOptions, trackingRoutes } from "./http/tracking/trackingRoutes.js"
export { WorkshopApi } from "./http/WorkshopApi.js"
export { workshopRoutes } from "./http/workshopRoutes.js"
