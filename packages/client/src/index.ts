/** A client of the workshop ticket API: functions over `fetch`, with types, retries and idempotency keys, without dependencies. */

export {
  type ChangeCode,
  createClient,
  type FindCode,
  type Page,
  type Pages,
  type RepeatableOptions,
  type SyncMeta,
  type TicketListQuery,
  type WorkshopClient
} from "./createClient.js"
export {
  type Aborted,
  type ApiFailure,
  type ClientFailure,
  type ClientResult,
  type CommonCode,
  type ErrorCode,
  type FailureDetails,
  type RateLimit,
  type ResponseInfo,
  type UnexpectedResponse,
  type Unreachable,
  unwrap,
  WorkshopError
} from "./result.js"
export { type CallOptions, type ClientOptions, type RequestEvent, type ResponseEvent, rootOf } from "./transport.js"
export type * from "./types.js"
