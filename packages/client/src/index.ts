/**
 * For programs that call the API, such as a till: a client with types, retries and idempotency keys.
 *
 * @example
 * ```ts
 * import { createClient } from "@workshop/client"
 * ```
 *
 * @packageDocumentation
 */

export {
  type ChangeCode,
  createClient,
  type FindCode,
  type Page,
  type Pages,
  type RepeatableOptions,
  type SyncMeta,
  type SyncQuery,
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
  type LocalFailure,
  type RateLimit,
  type ResponseInfo,
  type UnexpectedResponse,
  type Unreachable,
  unwrap,
  WorkshopError
} from "./result.js"
export { type CallOptions, type ClientOptions, type RequestEvent, type ResponseEvent, rootOf } from "./transport.js"
export type * from "./types.js"
