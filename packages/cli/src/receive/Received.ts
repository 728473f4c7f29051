import type { IncomingHttpHeaders } from "node:http"
import type { Instant } from "@workshop/core/domain/Instant"
import type { VerifyFailure } from "@workshop/core/verify/verify"

/** An event as it came: of any type, since there will be types that are not known here (Specification, Webhooks). */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly created_at?: unknown
  readonly shop_id?: unknown
  readonly data: Readonly<Record<string, unknown>>
}

/** What became of a request. */
export type Outcome =
  /** An event that was not acknowledged before. */
  | "event"
  /** An event that was acknowledged before: dropped (Specification, Webhooks). */
  | "again"
  /** An event, rightly signed, that the receiver was told to fail: it will come again. */
  | "failed"
  /** Not believed, and answered with a 4xx that says why. */
  | "refused"

/** Why a request was not believed. */
export type Doubt = VerifyFailure | "not_an_event" | "not_a_post" | "too_large"

/** A request as it arrived, complete. */
export interface Arrived {
  /** Its place in the order of arrival, from 1. */
  readonly n: number
  /** When it was complete, on the receiver's clock. */
  readonly at: Instant
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The signature header as it came; null without one. */
  readonly signature: string | null
  /** The raw body, as text. */
  readonly body: string
  /** Null where the body holds none. */
  readonly event: ReceivedEvent | null
}

/** A request, and what the receiver did with it. */
export interface Received extends Arrived {
  readonly outcome: Outcome
  readonly doubt: Doubt | null
  /**
   * The sender dialled anew for the attempt that the request before was part of: that one was cut off on a connection kept from
   * an earlier event, which looks to a sender as if the connection had been idle and closed. Both are one attempt.
   */
  readonly redialled: boolean
  /** The status it was answered with, or what was done in its place. */
  readonly answered: number | "redirect" | "endless" | "trickle" | "silent" | "cut"
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The event in a body; null where it holds none. */
export const eventOf = (body: string): ReceivedEvent | null => {
  try {
    const parsed: unknown = JSON.parse(body)
    if (!isObject(parsed)) return null
    const { id, type, data = {} } = parsed
    return typeof id === "string" && id !== "" && typeof type === "string" && isObject(data)
      ? { ...parsed, id, type, data }
      : null
  } catch {
    return null
  }
}
