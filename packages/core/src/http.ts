/**
 * Entry `@workshop/core/http`: for programs that serve the API in their own server. It has the mounts for `fetch`
 * and for Effect, the pipeline of routes, and the pages on which clients follow their tickets.
 *
 * @example
 * ```ts
 * import { webHandler } from "@workshop/core/http"
 * ```
 *
 * @packageDocumentation
 */

export type { TrackingStep, TrackingView } from "./domain/TrackingView.js"
export { type Authenticate, bearer, type OwnAuthentication } from "./http/authentication.js"
export { type HandlerFailure, httpApp, respondWithFailure } from "./http/EffectMount.js"
export type { RouteMatch } from "./http/Endpoint.js"
export type {
  AdmissionRefusal,
  ErrorCode,
  Failure,
  InvalidRequest,
  NotSignedIn,
  RequestIssue
} from "./http/ErrorTable.js"
export { mountFetch, webHandler } from "./http/FetchMount.js"
export {
  BodyIncomplete,
  BodyTooLarge,
  type HttpRequest,
  type HttpResponse,
  type StreamBody
} from "./http/HttpMessage.js"
export type { CallerFields, Mountable, MountEffectOptions, MountOptions, Unauthenticated } from "./http/Mount.js"
export { type Pipeline, pipeline, type RequestObserver, type RouteGroup } from "./http/Pipeline.js"
export type { ObservedResponse, RequestContext } from "./http/respond.js"
export { Html, type HtmlPart, html } from "./http/tracking/Html.js"
export type { TrackingLanguage, TrackingLocale } from "./http/tracking/TrackingLanguage.js"
export { trackingTemplate } from "./http/tracking/TrackingTemplate.js"
export {
  type ByTicketType,
  type TrackingNotice,
  type TrackingWords,
  trackingWords
} from "./http/tracking/TrackingWords.js"
export { type TrackingOptions, trackingRoutes } from "./http/tracking/trackingRoutes.js"
export { WorkshopApi } from "./http/WorkshopApi.js"
export { workshopRoutes } from "./http/workshopRoutes.js"
