import { Either } from "effect"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import {
  type ClientAccount,
  type ClientLink,
  ClientNotFound,
  type DisplayedClient,
  visibleClient
} from "../domain/Client.js"
import type { AttemptRecord, DeliveryRecord, EventRange, ReplayRecord, SentEvent } from "../domain/Delivery.js"
import { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, OfferId, TicketId } from "../domain/Identifier.js"
import type { LimitWindow } from "../domain/LimitWindow.js"
import { blankCard, type CardRecord, type StampLimitKey, stampLimitKey } from "../domain/LoyaltyCard.js"
import type { QueuedNotification } from "../domain/Notification.js"
import { OfferNotFound, type OfferRecord } from "../domain/Offer.js"
import type { Phone } from "../domain/Phone.js"
import { TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import type { ShopState } from "./ShopState.js"

/** A row that a store must load before the command runs. No request depends on another request's row. */
export type LoadRequest =
  /** The ticket, with its client's account, link and card. */
  | { readonly _tag: "Ticket"; readonly id: TicketId }
  /** The client's account, link and card. */
  | { readonly _tag: "Client"; readonly id: ClientId }
  /**
   * The account, link and card of a client whom the shop sees. For any other client a store must do the same work, so
   * that the response time does not reveal whether the client exists.
   */
  | { readonly _tag: "VisibleClient"; readonly id: ClientId }
  /** The offer, its ticket with its client's account and link, and the account that holds its phone number, with that account's link. */
  | { readonly _tag: "Offer"; readonly id: OfferId }
  | { readonly _tag: "IdempotencyRecord"; readonly key: IdempotencyRecordKey }
  | { readonly _tag: "StampLimit"; readonly key: StampLimitKey }
  /** All keys of the shop. */
  | { readonly _tag: "Keys" }
  /** The event's delivery, unless the receiver acknowledged the event or the delivery was given up. */
  | { readonly _tag: "Delivery"; readonly event_id: EventId }
  /** At most this many waiting deliveries of the shop. */
  | { readonly _tag: "Deliveries"; readonly max: number }
  /** The event with its attempts. */
  | { readonly _tag: "Event"; readonly id: EventId }
  /** The logged attempts to deliver the event. */
  | { readonly _tag: "Attempts"; readonly event_id: EventId }
  /** The queued notification or notice, unless it was sent or given up. */
  | { readonly _tag: "QueuedNotification"; readonly id: string }
  /** The replay, and the next events that it selects, with their deliveries. */
  | { readonly _tag: "Replay"; readonly id: string; readonly max: number }

/**
 * A part of the shop's data: the rows to load, and how to read them from the state. If a row is missing, the command
 * fails with the load's own refusal.
 */
export interface Load<out L, out E = never> {
  readonly loadRequests: ReadonlyArray<LoadRequest>
  readonly read: (state: ShopState) => Either.Either<L, E>
}

/** A client whom the shop may see, with their card. */
export interface VisibleClient {
  /** The client's id and the name that the shop sees. */
  readonly client: DisplayedClient
  /** The client's card in this shop; a blank one if they have none. */
  readonly card: CardRecord
}

const visibleClientOf = (state: ShopState, id: ClientId | null): VisibleClient | null => {
  if (id === null) return null
  const client = visibleClient(state.accounts.get(id), state.links.get(id))
  return client === null ? null : { client, card: state.cards.get(id) ?? blankCard(state.shop.id, id) }
}

/** Loads nothing, for an optional part of the input that is absent. */
export const none: Load<null> = { loadRequests: [], read: () => Either.right(null) }

/** A ticket of the shop, with its client as the shop sees them. */
export const ticket = (
  id: TicketId
): Load<{ readonly record: TicketRecord; readonly linked: VisibleClient | null }, TicketNotFound> => ({
  loadRequests: [{ _tag: "Ticket", id }],
  read: (state) => {
    const record = state.tickets.get(id)
    return record === undefined
      ? Either.left(new TicketNotFound())
      : Either.right({ record, linked: visibleClientOf(state, record.client_id) })
  }
})

/** The ticket's own row; null without an id, or if there is no such ticket. */
export const ticketRecord = (id: TicketId | null): Load<TicketRecord | null> => ({
  loadRequests: id === null ? [] : [{ _tag: "Ticket", id }],
  read: ({ tickets }) => Either.right(id === null ? null : (tickets.get(id) ?? null))
})

/** A client whom the shop knows and who does not block it, with their phone number. */
export const client = (id: ClientId): Load<VisibleClient & { readonly phone: Phone }, ClientNotFound> => ({
  loadRequests: [{ _tag: "VisibleClient", id }],
  read: (state) => {
    const client = visibleClientOf(state, id)
    return client === null
      ? Either.left(new ClientNotFound())
      : Either.right({ ...client, phone: state.accounts.get(id)!.phone })
  }
})

/**
 * A client's account and link, even if the shop may not see the client: for acts of the client, never for a response to
 * a shop.
 */
export const account = (
  id: ClientId
): Load<{ readonly account: ClientAccount; readonly link: ClientLink | null }, ClientNotFound> => ({
  loadRequests: [{ _tag: "Client", id }],
  read: (state) => {
    const account = state.accounts.get(id)
    return account === undefined
      ? Either.left(new ClientNotFound())
      : Either.right({ account, link: state.links.get(id) ?? null })
  }
})

/** Clients with their links and cards, including clients whom the shop may not see. */
export type KnownClients = ReadonlyMap<
  ClientId,
  { readonly account: ClientAccount; readonly link: ClientLink | null; readonly card: CardRecord | null }
>

/** The accounts of some clients, with their links and cards. Clients without an account are left out. */
export const knownClients = (ids: ReadonlyArray<ClientId>): Load<KnownClients> => ({
  loadRequests: ids.map((id) => ({ _tag: "Client", id })),
  read: (state) =>
    Either.right(
      new Map(
        ids.flatMap((id) => {
          const account = state.accounts.get(id)
          const card = state.cards.get(id) ?? null
          return account === undefined ? [] : [[id, { account, link: state.links.get(id) ?? null, card }] as const]
        })
      )
    )
})

/** An offer with its ticket, the client who is linked to that ticket, and the account that has the offer's phone number now. */
export const offer = (
  id: OfferId
): Load<
  {
    readonly record: OfferRecord
    readonly ticket: TicketRecord
    readonly linked: VisibleClient | null
    readonly holder: ClientAccount
    readonly link: ClientLink | null
  },
  OfferNotFound
> => ({
  loadRequests: [{ _tag: "Offer", id }],
  read: (state) => {
    const record = state.offers.get(id)
    const ticket = record === undefined ? undefined : state.tickets.get(record.ticket_id)
    const holder = record === undefined ? undefined : state.holders.get(record.phone)
    return record === undefined || ticket === undefined || holder === undefined
      ? Either.left(new OfferNotFound())
      : Either.right({
          record,
          ticket,
          linked: visibleClientOf(state, ticket.client_id),
          holder,
          link: state.links.get(holder.id) ?? null
        })
  }
})

/** All keys of the shop, including revoked ones. */
export const keys: Load<ReadonlyArray<ApiKeyRecord>> = {
  loadRequests: [{ _tag: "Keys" }],
  read: (state) => Either.right([...state.keys.values()])
}

/** The number of stamps that a caller gave a client in the last window. */
export const stampLimit = (key: StampLimitKey): Load<LimitWindow | undefined> => ({
  loadRequests: [{ _tag: "StampLimit", key }],
  read: (state) => Either.right(state.stamp_limits.get(stampLimitKey(key)))
})

/** An event's delivery under a claim's token; null if the event arrived, was given up, or was claimed again since. */
export const delivery = (event_id: EventId, token: number): Load<DeliveryRecord | null> => ({
  loadRequests: [{ _tag: "Delivery", event_id }],
  read: (state) => {
    const row = state.deliveries.get(event_id)
    return Either.right(row === undefined || row.token !== token ? null : row)
  }
})

/** At least this many waiting deliveries of the shop, or all if there are fewer. */
export const waitingDeliveries = (max: number): Load<ReadonlyArray<EventId>> => ({
  loadRequests: [{ _tag: "Deliveries", max }],
  read: (state) => Either.right([...state.deliveries.keys()].slice(0, max))
})

/** The named events that are still stored, with their attempts. */
export const events = (ids: ReadonlyArray<EventId>): Load<ReadonlyArray<SentEvent>> => ({
  loadRequests: ids.map((id) => ({ _tag: "Event", id })),
  read: (state) => Either.right(ids.flatMap((id) => state.events.get(id) ?? []))
})

/** The named tickets that exist. */
export const tickets = (ids: ReadonlyArray<TicketId>): Load<ReadonlyArray<TicketRecord>> => ({
  loadRequests: ids.map((id) => ({ _tag: "Ticket", id })),
  read: (state) => Either.right(ids.flatMap((id) => state.tickets.get(id) ?? []))
})

/** The named idempotency records that are still stored. */
export const idempotencyRecords = (
  keys: ReadonlyArray<IdempotencyRecordKey>
): Load<ReadonlyArray<IdempotencyRecord>> => ({
  loadRequests: keys.map((key) => ({ _tag: "IdempotencyRecord", key })),
  read: (state) => Either.right(keys.flatMap((key) => state.idempotency_records.get(idempotencyRecordKey(key)) ?? []))
})

/** The logged attempts to deliver an event, oldest first. */
export const attempts = (event_id: EventId): Load<ReadonlyArray<AttemptRecord>> => ({
  loadRequests: [{ _tag: "Attempts", event_id }],
  read: (state) => Either.right(state.attempts.get(event_id) ?? [])
})

/** A queued notification or notice with this number of attempts; null if it was delivered, given up, or attempted again since. */
export const queuedNotification = (id: string, attempts_made: number): Load<QueuedNotification | null> => ({
  loadRequests: [{ _tag: "QueuedNotification", id }],
  read: (state) => {
    const row = state.queuedNotifications.get(id)
    return Either.right(row === undefined || row.attempts_made !== attempts_made ? null : row)
  }
})

/** A replay with the next events that it selects; null if there is no such replay. */
export const replay = (
  id: string,
  max: number
): Load<{ readonly record: ReplayRecord; readonly next: EventRange } | null> => ({
  loadRequests: [{ _tag: "Replay", id, max }],
  read: (state) => {
    const record = state.replays.get(id)
    return Either.right(record === undefined ? null : { record, next: state.replayable(record, max) })
  }
})
