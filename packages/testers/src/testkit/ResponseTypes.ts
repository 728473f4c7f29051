import type { Ticket as TypedTicket } from "@workshop/core/promise"
import type { deliveryView } from "@workshop/http-node/internal"

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

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export type DeliveryJson = ReturnType<typeof deliveryView>

/** One attempt at a delivery, as the sandbox lists it (Specification, Sandbox). */
export type AttemptJson = DeliveryJson["attempts"][number]

/** A webhook, as the sandbox shows it (Specification, Sandbox). */
export interface WebhookJson {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: string | null
  readonly failures_in_row: number
  readonly first_failure_at: string | null
}
