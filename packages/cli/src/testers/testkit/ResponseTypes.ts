import type { Ticket as TypedTicket } from "@workshop/core/promise"
import type { deliveryView } from "@workshop/http-node/sandbox"

/** A ticket in a response (Specification, Resources); the tickets of tests have numbers. */
export type Ticket = TypedTicket & { readonly number: number; readonly number_label: string }

/** An event, as a webhook carries it and as the sandbox lists it (Specification, Resources). */
export interface Event {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: string
  readonly shop_id: string
  readonly data: Readonly<Record<string, unknown>> & {
    readonly ticket?: Ticket
    readonly from?: string
    readonly reason?: string
    readonly channel?: string
    readonly client?: { readonly id: string }
  }
}

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export type Delivery = ReturnType<typeof deliveryView>

/** One attempt at a delivery, as the sandbox lists it (Specification, Sandbox). */
export type DeliveryAttempt = Delivery["attempts"][number]

/** A webhook, as the sandbox shows it (Specification, Sandbox). */
export interface Webhook {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: string | null
  readonly failures_in_row: number
  readonly first_failure_at: string | null
}
