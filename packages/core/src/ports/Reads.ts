import { Context, type Effect } from "effect"
import type { HeldShop } from "../decisions/Command.js"
import type { SeenClient } from "../decisions/Load.js"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { Client } from "../domain/Client.js"
import type { EventRecord } from "../domain/Event.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { TicketState } from "../domain/TicketLifecycle.js"
import type { StoreUnavailable } from "./Store.js"

/** A ticket with its client as the shop sees them now: blocks and renames apply on reading. */
export interface SeenTicket {
  readonly record: TicketRecord
  readonly client: Client | null
}

/** Tickets of a shop, with the settings that their view needs. */
export interface SeenTickets {
  readonly shop: ShopRecord
  readonly tickets: ReadonlyArray<SeenTicket>
}

/** A list of tickets, with when any ticket of the shop last changed as of that read, whatever the list's filter. */
export interface ListedTickets extends SeenTickets {
  /** Null where the shop has no ticket, and for a list in the order `Newest`, which has no use for it. */
  readonly last_change_at: Instant | null
  /** The first change that the read did not look at, where it gave up after `TicketOrder.most` of them; else null. */
  readonly unread_from: { readonly change_seq: number; readonly updated_at: Instant } | null
}

/** Which tickets to list (Specification, Endpoints); all that are given must hold. */
export interface TicketFilter {
  readonly state?: ReadonlyArray<TicketState>
  readonly number?: number
  readonly client_id?: ClientId
  readonly phone?: Phone
  readonly external_ref?: string
  /** As it is kept, such as `7K3M-Q9XD`. */
  readonly tracking_code?: string
  /** Inclusive. */
  readonly created_after?: Instant
  /** Exclusive. */
  readonly created_before?: Instant
}

/** In which order to list, and after which place (Specification, Lists and sync). */
export type TicketOrder =
  /** By creation, the last one first: by `id` descending, since the identifiers of a shop rise. */
  | { readonly _tag: "Newest"; readonly after: TicketId | null }
  /**
   * By change, ascending: what changed at `since` or later, after the change `after`. With a filter, a read looks at the next
   * `most` changes, or else `ServiceLimits.changes_read_max`; or at all tickets that `narrowest` leaves, where they are no more.
   */
  | { readonly _tag: "Changes"; readonly since: Instant; readonly after: number | null; readonly most?: number }

/** The part of a filter by whose index the fewest tickets are found; null for a list of all tickets. */
export const narrowest = (filter: TicketFilter): TicketFilter | null => {
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

/** A client as a shop sees them, with their tickets there counted. */
export interface CountedClient extends SeenClient {
  readonly shop: ShopRecord
  readonly tickets_open: number
  readonly tickets_total: number
}

/** Which of a shop's events: the latest ones, at most `limit` or else `ServiceLimits.list_max`, of those before the one numbered `before`. */
export interface EventPart {
  /** The `seq` of an event: for the part before this one, that of its first. */
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

/**
 * What a shop reads, each in one look at committed data. The cost of a read does not depend on how many tickets
 * the shop has; that of a client grows with the client's own tickets there, which it counts. Clients whom the shop does not know and clients who block it are absent alike, and at the same cost: the time
 * of an answer must not tell who has an account.
 */
export class Reads extends Context.Tag("@workshop/core/Reads")<
  Reads,
  {
    /** The shop's settings, head and webhook; null where there is no such shop. */
    readonly shop: (shop_id: ShopId) => Effect.Effect<HeldShop | null, StoreUnavailable>
    /** One ticket of the shop, or none. */
    readonly ticket: (shop_id: ShopId, id: TicketId) => Effect.Effect<SeenTickets, StoreUnavailable>
    /** At most `limit` tickets; fewer, or none, where `unread_from` says that the list goes on. A `client_id` that the shop does not see matches nothing. */
    readonly tickets: (
      shop_id: ShopId,
      filter: TicketFilter,
      order: TicketOrder,
      limit: number
    ) => Effect.Effect<ListedTickets, StoreUnavailable>
    /** The ticket that `by-number` means (the newest open one, else the newest), then at most `limit` others, newest first. */
    readonly ticketsOfNumber: (
      shop_id: ShopId,
      number: number,
      limit: number
    ) => Effect.Effect<SeenTickets, StoreUnavailable>
    /** A client by id or by phone number. */
    readonly client: (
      shop_id: ShopId,
      by: { readonly id: ClientId } | { readonly phone: Phone }
    ) => Effect.Effect<CountedClient | null, StoreUnavailable>
    /** The shop's latest `ServiceLimits.list_max` keys, revoked ones too, oldest first. */
    readonly keys: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<ApiKeyRecord>, StoreUnavailable>
    /** The latest events of a part, in the order in which they were raised. */
    readonly events: (shop_id: ShopId, part?: EventPart) => Effect.Effect<ReadonlyArray<EventRecord>, StoreUnavailable>
  }
>() {}
