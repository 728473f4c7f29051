import type { ConflictDetails, FieldDetails, IssueDetails, LimitDetails, ScopeDetails } from "./types.js"

/** The status of the limit with the fewest uses left (Specification, Limits). */
export interface RateLimit {
  /** The number of uses in a window. */
  readonly limit: number
  /** The number of uses left. */
  readonly remaining: number
  /** The seconds until the window starts again. */
  readonly reset_seconds: number
}

/** The facts of a result's HTTP response. Quote `request_id` if you ask the service's operator about it. */
export interface ResponseInfo {
  /** The HTTP status. */
  readonly status: number
  /** The service's id of this request; null if another program, such as a proxy, responded. */
  readonly request_id: string | null
  /** The limit with the fewest uses left; null if the response has none. */
  readonly rate_limit: RateLimit | null
  /** The number of requests that the call sent. */
  readonly attempts: number
}

/** The codes with which any call may fail. */
export type CommonCode =
  | "VALIDATION_ERROR"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "SHOP_NOT_APPROVED"
  | "ACCOUNT_DEACTIVATED"
  | "API_DISABLED"
  | "TOO_MANY_ATTEMPTS"
  | "INTERNAL"
  | "UNAVAILABLE"

/** Every code of the API (Specification, Errors). */
export type ErrorCode = CommonCode | "NOT_FOUND" | "CONFLICT" | "PROFANITY"

/** The type of `details` for each code that has any (Specification, Errors). */
export interface FailureDetails {
  /** The fields that are wrong. */
  readonly VALIDATION_ERROR: IssueDetails
  /** The scope that the key lacks. */
  readonly FORBIDDEN: ScopeDetails
  /** The broken rule, and the ticket's state. */
  readonly CONFLICT: ConflictDetails
  /** The field with the forbidden word. */
  readonly PROFANITY: FieldDetails
  /** The limit that is used up. */
  readonly TOO_MANY_ATTEMPTS: LimitDetails
}

/** A failure that the service returned, typed by its code (Specification, Errors). */
export type ApiFailure<C extends string = ErrorCode> = C extends string
  ? ResponseInfo & {
      readonly code: C
      /** The message for people. Programs should use `code`. */
      readonly message: string
      readonly details: C extends keyof FailureDetails ? FailureDetails[C] : undefined
      /** The seconds until a retry may succeed, after a 429 or a 503; else null. */
      readonly retry_after_seconds: number | null
    }
  : never

/** A failure that the client found itself. */
export interface LocalFailure {
  /** The failure in words. */
  readonly message: string
  /** The number of requests that the call sent. */
  readonly attempts: number
}

/** No response came: the service cannot be reached, or took too long. It may have processed the request. */
export interface Unreachable extends LocalFailure {
  /** `TIMED_OUT` after `timeoutMs`, otherwise `UNREACHABLE`. */
  readonly code: "UNREACHABLE" | "TIMED_OUT"
  /** The error of the last attempt. */
  readonly cause: unknown
}

/** Your `AbortSignal` ended the call. The service may have processed the request, unless `attempts` is 0. */
export interface Aborted extends LocalFailure {
  /** For programs. */
  readonly code: "ABORTED"
}

/** The response did not come from the service, because a proxy responded or the address is wrong. */
export interface UnexpectedResponse extends LocalFailure {
  /** For programs. */
  readonly code: "MISUNDERSTOOD"
  /** The HTTP status. */
  readonly status: number
}

/** The failure of a call. */
export type ClientFailure<C extends string = ErrorCode> = ApiFailure<C> | Unreachable | Aborted | UnexpectedResponse

/** The result of a call; nothing is thrown. `meta` has the fields of the response's `meta`. */
export type ClientResult<A, C extends string, M = undefined> =
  | { readonly ok: true; readonly value: A; readonly meta: M; readonly response: ResponseInfo }
  | { readonly ok: false; readonly error: ClientFailure<C> }

/** A failure as an exception: {@link unwrap} and the iteration over items throw it. */
export class WorkshopError extends Error {
  /** For programs. */
  override readonly name = "WorkshopError"
  /** The failure's code, for programs. */
  readonly code: ClientFailure["code"]
  constructor(
    /** The failure itself. */
    readonly failure: ClientFailure
  ) {
    super(`${failure.code}: ${failure.message}`, "cause" in failure ? { cause: failure.cause } : undefined)
    this.code = failure.code
  }
}

/**
 * The value of a result.
 * @throws WorkshopError for a failure, which it contains.
 */
export const unwrap = <A>(
  result: { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: ClientFailure }
): A => {
  if (result.ok) return result.value
  throw new WorkshopError(result.error)
}
