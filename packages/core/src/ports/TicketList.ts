import type { DisplayedClient } from "../domain/Client.js"
import type { ClientId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { TicketState } from "../domain/TicketLifecycle.js"

/**
 * A ticket with its client as the shop sees the client now. A read after a block or a change of the name therefore
 * shows it.
 */
export interface SeenTicket {
  /** The ticket as it is stored. */
  readonly record: TicketRecord
  /** The client as the shop sees them now; null without a client, and while the client blocks the shop. */
  readonly client: DisplayedClient | null
}

/** Tickets of a shop, with the settings that their view needs. */
export interface SeenTickets {
  /** The shop, whose settings the view of a ticket needs. */
  readonly shop: ShopRecord
  /** The tickets, in the order of the read. */
  readonly tickets: ReadonlyArray<SeenTicket>
}

/**
 * A list of tickets, with the time of the latest change of any ticket of the shop, even one that the filter excludes,
 * from the same read.
 */
export interface ListedTickets extends SeenTickets {
  /**
   * The time of the latest change; null if the shop has no ticket, and for a list in the order `Newest`, which does not
   * need it.
   */
  readonly last_change_at: Instant | null
  /** The first change that the read left out because it reached `TicketOrder.max`; null if it read all. */
  readonly unread_from: { readonly change_seq: number; readonly updated_at: Instant } | null
}

/** The filter of a list of tickets (Specification, Endpoints); a ticket must match all given fields. */
export interface TicketFilter {
  /** In one of these states. */
  readonly state?: ReadonlyArray<TicketState>
  /** With this number, which several tickets can have. */
  readonly number?: number
  /** Linked to this client. */
  readonly client_id?: ClientId
  /** Given with exactly this phone number. */
  readonly phone?: Phone
  /** With exactly this reference. */
  readonly external_ref?: string
  /** The tracking code in its stored form, such as `7K3M-Q9XD`. */
  readonly tracking_code?: string
  /** Inclusive. */
  readonly created_after?: Instant
  /** Exclusive. */
  readonly created_before?: Instant
}

/** The order of a list, and the position after which it begins (Specification, Lists and sync). */
export type TicketOrder =
  /** By creation, newest first: by `id` descending, because the identifiers of a shop increase. */
  | { readonly _tag: "Newest"; readonly after: TicketId | null }
  /**
   * By change, ascending: tickets that changed at `since` or later, after the change `after`. With a filter, a read
   * examines the next `max` changes, by default `ServiceLimits.changes_read_max`, or all tickets of {@link narrowestFilter}
   * if there are no more than `max`.
   */
  | { readonly _tag: "Changes"; readonly since: Instant; readonly after: number | null; readonly max?: number }

/** The part of a filter whose index finds the fewest tickets; null for a list of all tickets. */
export const narrowestFilter = (filter: TicketFilter): TicketFilter | null => {
  const { state, number, client_id, phone, external_ref, created_after, created_before } = filter
  const created = {
    ...(created_after !== undefined && { created_after }),
    ...(created_before !== undefined && { created_before })
  }
  if (external_ref !== undefined) return { external_ref, ...created }
  if (client_id !== undefined) return { client_id, ...created }
  if (phone !== undefined) return { phone, ...created }
  if (number !== undefined) return { number, ...created }
  if (state !== undefined) return { state, ...created }
  return Object.keys(created).length === 0 ? null : created
}
