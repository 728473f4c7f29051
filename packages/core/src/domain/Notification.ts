import type { ClientId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Ticket } from "./Ticket.js"

/** What a client is told in the app: their ticket is ready, or it cannot be done (Specification, States). */
export interface NotificationRecord {
  readonly id: string
  readonly shop_id: ShopId
  readonly client_id: ClientId
  readonly type: "ticket.ready" | "ticket.impossible"
  /** The ticket as it stood when the client was told. */
  readonly ticket: Ticket
  readonly ticket_id: TicketId
  readonly created_at: Instant
}
