import type { Ticket as TypedTicket } from "@workshop/core/promise"

/** A ticket in a response (Specification, Resources); the tickets of tests have numbers. */
export type TicketJson = TypedTicket & { readonly number: number; readonly number_label: string }

/** An event, as a webhook carries it and as the sandbox lists it (Specification, Resources). */
export interface EventJson {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: string
  readonly shop_id: string
  readonly data: Readonly<Record<string, unknown>> & {
    readonly ticket?: TicketJson
    readonly from?: string
    readonly reason?: string
    readonly channel?: string
    readonly client?: { readonly id: string }
  }
}

/** One attempt at a delivery, as the sandbox lists it (Specification, Sandbox). */
export interface AttemptJson {
  /** The number of the attempt, from 1. */
  readonly n: number
  readonly started_at: string
  readonly duration_ms: number
  /** The status of the response; null if none came. */
  readonly status: number | null
  readonly error: string | null
  readonly detail: string | null
  readonly address: string | null
  readonly timings: {
    readonly lookup_ms: number | null
    readonly connect_ms: number | null
    readonly tls_ms: number | null
    readonly first_byte_ms: number | null
  }
  readonly head: string
}

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export interface DeliveryJson {
  readonly event_id: string
  readonly type: string
  readonly state: "pending" | "delivered" | "parked" | "dead"
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<AttemptJson>
}

/** A webhook, as the sandbox shows it (Specification, Sandbox). */
export interface WebhookJson {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: string | null
  readonly failures_in_row: number
  readonly first_failure_at: string | null
}
