import type { ConflictDetails, FieldDetails, IssueDetails, LimitDetails, ScopeDetails } from "./types.js"

/** The limit of which the fewest uses are left (Specification, Limits). */
export interface RateLimit {
  /** How many uses a window has. */
  readonly limit: number
  /** How many of them are left. */
  readonly remaining: number
  /** Seconds until the window starts again. */
  readonly reset_s: number
}

/** The HTTP response behind a result: quote `request_id` when you ask the service's operator about it. */
export interface ResponseInfo {
  /** The HTTP status. */
  readonly status: number
  /** The service's name for this request; null if something else answered. */
  readonly request_id: string | null
  /** Null where the response names no limit. */
  readonly rate_limit: RateLimit | null
  /** How many requests the call took: 1 where the first was answered. */
  readonly attempts: number
}

/** Codes that any call may fail with. */
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
  readonly VALIDATION_ERROR: IssueDetails
  readonly FORBIDDEN: ScopeDetails
  readonly CONFLICT: ConflictDetails
  readonly PROFANITY: FieldDetails
  readonly TOO_MANY_ATTEMPTS: LimitDetails
}

/** A failure that the service answered with, typed by its code (Specification, Errors). */
export type ApiFailure<C extends string = ErrorCode> = C extends string
  ? {
      readonly code: C
      /** For people; programs go by `code`. */
      readonly message: string
      readonly details: C extends keyof FailureDetails ? FailureDetails[C] : undefined
      /** The HTTP status. */
      readonly status: number
      /** Quote it when you ask the service's operator about the failure. */
      readonly request_id: string | null
      /** Of a 429 or a 503: seconds until another try is worthwhile. */
      readonly retry_after_s: number | null
      /** Null where the response names no limit. */
      readonly rate_limit: RateLimit | null
      /** How many requests the call took. */
      readonly attempts: number
    }
  : never

/** No response came: the service cannot be reached, or took too long. It may have done what was asked. */
export interface Unreachable {
  readonly code: "UNREACHABLE" | "TIMED_OUT"
  readonly message: string
  readonly cause: unknown
  readonly attempts: number
}

/** Your `AbortSignal` ended the call. The service may have done what was asked, unless `attempts` is 0. */
export interface Aborted {
  readonly code: "ABORTED"
  readonly message: string
  readonly attempts: number
}

/** Something answered that is not the service, such as a proxy, or the address is wrong. */
export interface Misunderstood {
  readonly code: "MISUNDERSTOOD"
  readonly message: string
  readonly status: number
  readonly attempts: number
}

/** Why a call has no result. */
export type ClientFailure<C extends string = ErrorCode> = ApiFailure<C> | Unreachable | Aborted | Misunderstood

/** The result of a call; nothing is thrown. `meta` has the fields of the response's `meta`. */
export type ClientResult<A, C extends string, M = undefined> =
  | { readonly ok: true; readonly value: A; readonly meta: M; readonly response: ResponseInfo }
  | { readonly ok: false; readonly error: ClientFailure<C> }

/** A failure as an exception: {@link unwrap} and the iteration over items throw it. */
export class WorkshopError extends Error {
  override readonly name = "WorkshopError"
  /** The failure's code, for programs. */
  readonly code: ClientFailure["code"]
  constructor(readonly failure: ClientFailure) {
    super(`${failure.code}: ${failure.message}`, "cause" in failure ? { cause: failure.cause } : undefined)
    this.code = failure.code
  }
}

/**
 * The value of a result.
 * @throws WorkshopError for a failure, with the failure in it.
 */
export const unwrap = <A>(
  result: { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: ClientFailure }
): A => {
  if (result.ok) return result.value
  throw new WorkshopError(result.error)
}
