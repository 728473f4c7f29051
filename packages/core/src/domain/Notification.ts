import type { ClientId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Ticket } from "./Ticket.js"
import type { NoticeRecord } from "./Webhook.js"

/** A notification to a client in the app: their ticket is ready, or it cannot be done (Specification, States). */
export interface NotificationRecord {
  readonly id: string
  readonly shop_id: ShopId
  readonly client_id: ClientId
  readonly type: "ticket.ready" | "ticket.impossible"
  /** The ticket at the time of the notification. */
  readonly ticket: Ticket
  readonly ticket_id: TicketId
  readonly created_at: Instant
}

/**
 * A notification or a notice that waits for the embedder's notifiers. The row exists until it is delivered
 * or given up; what it says is stored apart, for good, under the same id.
 */
export interface MessageRecord {
  readonly shop_id: ShopId
  /** The id of the notification or the notice. */
  readonly id: string
  readonly receiver: "client" | "owner"
  /** The number of attempts that were begun: counted before, so that whoever dies over it has used up an attempt. */
  readonly attempts_made: number
  readonly due_at: Instant
}

/** A message with what it says. */
export type Message =
  | (MessageRecord & { readonly receiver: "client"; readonly says: NotificationRecord })
  | (MessageRecord & { readonly receiver: "owner"; readonly says: NoticeRecord })
