import type { Ticket as TypedTicket } from "@workshop/core/promise"

/** A ticket in a response (Specification, Resources); the tickets of tests have numbers. */
export type TicketJson = TypedTicket & { readonly number: number; readonly number_label: string }

/** An event, as a webhook carries it and as the sandbox lists it (Specification, Resources). */
export interface EventJson {
  /** The id of the event, the same at each delivery. */
  readonly id: string
  /** The type of the event, such as `ticket.created`. */
  readonly type: string
  /** When the event was raised (ISO 8601). */
  readonly created_at: string
  /** The version of the API whose form the event has. */
  readonly api_version: string
  /** The shop of the event. */
  readonly shop_id: string
  /** The ticket after the event, and further fields that depend on the type. */
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
  /** When the attempt began (ISO 8601). */
  readonly started_at: string
  /** How long the attempt took, in milliseconds. */
  readonly duration_ms: number
  /** The status of the response; null if none came. */
  readonly status: number | null
  /** Why no response came, such as `timeout`; null if one came. */
  readonly error: string | null
  /** The system's name for the error, such as `ECONNREFUSED`; null if there is none. */
  readonly detail: string | null
  /** The IP address of the connection; null if there was none. */
  readonly address: string | null
  /** How long each stage took, in milliseconds; null for a stage that was not needed or not completed. */
  readonly timings: {
    readonly lookup_ms: number | null
    readonly connect_ms: number | null
    readonly tls_ms: number | null
    readonly first_byte_ms: number | null
  }
  /** The start of the response: status line, headers and body. */
  readonly head: string
}

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export interface DeliveryJson {
  /** The event that is delivered. */
  readonly event_id: string
  /** The type of the event. */
  readonly type: string
  /** Whether the delivery waits, has arrived, waits until the webhook is on again, or was given up. */
  readonly state: "pending" | "delivered" | "parked" | "dead"
  /** When the next attempt is due (ISO 8601); null if none is scheduled. */
  readonly next_attempt_at: string | null
  /** The attempts, oldest first. */
  readonly attempts: ReadonlyArray<AttemptJson>
}

/** A webhook, as the sandbox shows it (Specification, Sandbox). */
export interface WebhookJson {
  /** The address; null if none is set. */
  readonly url: string | null
  /** Whether events are sent. */
  readonly on: boolean
  /** Why the webhook is off; null if it is on. */
  readonly off_reason: string | null
  /** How many attempts in a row have failed. */
  readonly failures_in_row: number
  /** When the first of them failed (ISO 8601); null if none did. */
  readonly first_failure_at: string | null
}
