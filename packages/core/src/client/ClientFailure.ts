import type { Scope } from "../domain/ApiKey.js"
import type { PolicyName } from "../domain/Limits.js"
import type { TicketState, TicketStatus } from "../domain/TicketLifecycle.js"
import type { ErrorCode, failureRows, RequestIssue } from "../http/ErrorTable.js"

type Rows = typeof failureRows

/** Every `details.reason` of a 409 (Specification, Errors). */
export type ConflictReason = {
  [Tag in keyof Rows]: Rows[Tag] extends { readonly reason: infer Reason } ? Reason : never
}[keyof Rows]

/** The fields of `details`, by code; the other codes have none (Specification, Errors). */
export interface FailureDetails {
  readonly VALIDATION_ERROR: { readonly issues: ReadonlyArray<RequestIssue> }
  readonly FORBIDDEN: { readonly scope: Scope }
  readonly CONFLICT: {
    readonly reason: ConflictReason
    /** Of a refused move. */
    readonly from?: TicketState
    readonly to?: TicketStatus
    readonly allowed?: ReadonlyArray<TicketStatus>
    /** Of a ticket that refuses: its state now, and when it last changed. */
    readonly state?: TicketState
    readonly updated_at?: string
  }
  readonly PROFANITY: { readonly field: string }
  readonly TOO_MANY_ATTEMPTS: { readonly limit: PolicyName }
}

/** A failure that the service answered, typed by its code (Specification, Errors). */
export type AnsweredFailure<C extends ErrorCode = ErrorCode> = C extends ErrorCode
  ? {
      readonly code: C
      /** For people; programs go by `code`. */
      readonly message: string
      readonly details: C extends keyof FailureDetails ? FailureDetails[C] : undefined
      readonly status: number
      /** To quote when asking about it. */
      readonly request_id: string | null
      /** Of a 429 or a 503: seconds until it is worth trying again. */
      readonly retry_after_s: number | null
    }
  : never

/** No answer came: the service cannot be reached, took too long, or the call was aborted. It is unknown whether it was carried out. */
export interface Unreachable {
  readonly code: "UNREACHABLE"
  readonly message: string
  readonly cause: unknown
}

/** Something answered that is not the service, such as a proxy or a wrong address. */
export interface Misunderstood {
  readonly code: "MISUNDERSTOOD"
  readonly message: string
  readonly status: number
}

/** Why a call has no result. */
export type ClientFailure<C extends ErrorCode = ErrorCode> = AnsweredFailure<C> | Unreachable | Misunderstood

/** The result of a call: nothing is thrown. `meta` is what the answer says besides its result. */
export type ClientResult<A, C extends ErrorCode, M = undefined> =
  | { readonly ok: true; readonly value: A; readonly meta: M }
  | { readonly ok: false; readonly error: ClientFailure<C> }
