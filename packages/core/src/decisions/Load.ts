import { Either } from "effect"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import { asSeen, type Client, type ClientAccount, type ClientLink, ClientNotFound } from "../domain/Client.js"
import type { AttemptRecord, DeliveryRecord, EventRange, ReplayRecord, SentEvent } from "../domain/Delivery.js"
import { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, OfferId, TicketId } from "../domain/Identifier.js"
import type { LimitWindow } from "../domain/LimitWindow.js"
import { blankCard, type CardRecord, type StampCountKey, stampCountKey } from "../domain/LoyaltyCard.js"
import type { MessageRecord } from "../domain/Notification.js"
import { OfferNotFound, type OfferRecord } from "../domain/Offer.js"
import type { Phone } from "../domain/Phone.js"
import { TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import type { ShopState } from "./ShopState.js"

/** A row that a store must load before the command runs. No ask depends on another's row. */
export type LoadRequest =
  /** The ticket, with its client's account, link and card. */
  | { readonly _tag: "Ticket"; readonly id: TicketId }
  /** The client's account, link and card. */
  | { readonly _tag: "Client"; readonly id: ClientId }
  /** The same of a client whom the shop sees. For all others a store must do the same work, so that its time reveals nothing. */
  | { readonly _tag: "VisibleClient"; readonly id: ClientId }
  /** The offer, its ticket with its client's account and link, and the account that holds its phone number, with that account's link. */
  | { readonly _tag: "Offer"; readonly id: OfferId }
  | { readonly _tag: "Remembered"; readonly key: IdempotencyRecordKey }
  | { readonly _tag: "StampsUsed"; readonly key: StampCountKey }
  /** All keys of the shop. */
  | { readonly _tag: "Keys" }
  /** The delivery of an event that still has to arrive. */
  | { readonly _tag: "Delivery"; readonly event_id: EventId }
  /** So many deliveries of the shop that still have to arrive, or all where there are fewer. */
  | { readonly _tag: "Deliveries"; readonly most: number }
  /** The event with its attempts. */
  | { readonly _tag: "Event"; readonly id: EventId }
  /** The attempts at an event that were logged. */
  | { readonly _tag: "Attempts"; readonly event_id: EventId }
  /** The message that still has to be sent. */
  | { readonly _tag: "Message"; readonly id: string }
  /** The replay, and the next events that it asks for with their deliveries. */
  | { readonly _tag: "Replay"; readonly id: string; readonly most: number }

/** A piece of the shop's data: what to load, and how to read it from the slice; a missing row is the need's own refusal. */
export interface Load<out L, out E = never> {
  readonly asks: ReadonlyArray<LoadRequest>
  readonly read: (slice: ShopState) => Either.Either<L, E>
}

/** A client whom the shop may see, with the card. */
export interface SeenClient {
  readonly client: Client
  readonly card: CardRecord
}

const seen = (slice: ShopState, id: ClientId | null): SeenClient | null => {
  if (id === null) return null
  const client = asSeen(slice.accounts.get(id), slice.links.get(id))
  return client === null ? null : { client, card: slice.cards.get(id) ?? blankCard(slice.shop.id, id) }
}

/** Nothing: for a need that the input leaves open. */
export const none: Load<null> = { asks: [], read: () => Either.right(null) }

/** A ticket of the shop, with its client as the shop sees them. */
export const ticket = (
  id: TicketId
): Load<{ readonly record: TicketRecord; readonly linked: SeenClient | null }, TicketNotFound> => ({
  asks: [{ _tag: "Ticket", id }],
  read: (slice) => {
    const record = slice.tickets.get(id)
    return record === undefined
      ? Either.left(new TicketNotFound())
      : Either.right({ record, linked: seen(slice, record.client_id) })
  }
})

/** A client whom the shop knows and who does not block it, with the number that they hold. */
export const client = (id: ClientId): Load<SeenClient & { readonly phone: Phone }, ClientNotFound> => ({
  asks: [{ _tag: "VisibleClient", id }],
  read: (slice) => {
    const found = seen(slice, id)
    return found === null
      ? Either.left(new ClientNotFound())
      : Either.right({ ...found, phone: slice.accounts.get(id)!.phone })
  }
})

/** A client's account and link whatever the shop may see of them: for what the client does, never for an answer to a shop. */
export const account = (
  id: ClientId
): Load<{ readonly account: ClientAccount; readonly link: ClientLink | null }, ClientNotFound> => ({
  asks: [{ _tag: "Client", id }],
  read: (slice) => {
    const account = slice.accounts.get(id)
    return account === undefined
      ? Either.left(new ClientNotFound())
      : Either.right({ account, link: slice.links.get(id) ?? null })
  }
})

/** An offer with its ticket, the client linked to that as the shop sees them, and whoever holds its phone number now. */
export const offer = (
  id: OfferId
): Load<
  {
    readonly record: OfferRecord
    readonly ticket: TicketRecord
    readonly linked: SeenClient | null
    readonly holder: ClientAccount
    readonly link: ClientLink | null
  },
  OfferNotFound
> => ({
  asks: [{ _tag: "Offer", id }],
  read: (slice) => {
    const record = slice.offers.get(id)
    const ticket = record === undefined ? undefined : slice.tickets.get(record.ticket_id)
    const holder = record === undefined ? undefined : slice.holders.get(record.phone)
    return record === undefined || ticket === undefined || holder === undefined
      ? Either.left(new OfferNotFound())
      : Either.right({
          record,
          ticket,
          linked: seen(slice, ticket.client_id),
          holder,
          link: slice.links.get(holder.id) ?? null
        })
  }
})

/** All keys of the shop, revoked ones too. */
export const keys: Load<ReadonlyArray<ApiKeyRecord>> = {
  asks: [{ _tag: "Keys" }],
  read: (slice) => Either.right([...slice.keys.values()])
}

/** How many stamps a caller gave a client in the window that was last open. */
export const stampsUsed = (key: StampCountKey): Load<LimitWindow | undefined> => ({
  asks: [{ _tag: "StampsUsed", key }],
  read: (slice) => Either.right(slice.stamps_used.get(stampCountKey(key)))
})

/** An event's delivery under a claim's token; null where it arrived, was given up, or was claimed anew since. */
export const delivery = (event_id: EventId, token: number): Load<DeliveryRecord | null> => ({
  asks: [{ _tag: "Delivery", event_id }],
  read: (slice) => {
    const row = slice.deliveries.get(event_id)
    return Either.right(row === undefined || row.token !== token ? null : row)
  }
})

/** At least so many events of the shop that still have to arrive, or all where there are fewer. */
export const waiting = (most: number): Load<ReadonlyArray<EventId>> => ({
  asks: [{ _tag: "Deliveries", most }],
  read: (slice) => Either.right([...slice.deliveries.keys()].slice(0, most))
})

/** Those of some events that are still kept, with their attempts. */
export const events = (ids: ReadonlyArray<EventId>): Load<ReadonlyArray<SentEvent>> => ({
  asks: ids.map((id) => ({ _tag: "Event", id })),
  read: (slice) => Either.right(ids.flatMap((id) => slice.events.get(id) ?? []))
})

/** Those of some tickets that are there. */
export const tickets = (ids: ReadonlyArray<TicketId>): Load<ReadonlyArray<TicketRecord>> => ({
  asks: ids.map((id) => ({ _tag: "Ticket", id })),
  read: (slice) => Either.right(ids.flatMap((id) => slice.tickets.get(id) ?? []))
})

/** Those of some first answers that are still remembered. */
export const remembered = (keys: ReadonlyArray<IdempotencyRecordKey>): Load<ReadonlyArray<IdempotencyRecord>> => ({
  asks: keys.map((key) => ({ _tag: "Remembered", key })),
  read: (slice) => Either.right(keys.flatMap((key) => slice.remembered.get(idempotencyRecordKey(key)) ?? []))
})

/** The attempts at an event that were logged, oldest first. */
export const attempts = (event_id: EventId): Load<ReadonlyArray<AttemptRecord>> => ({
  asks: [{ _tag: "Attempts", event_id }],
  read: (slice) => Either.right(slice.attempts.get(event_id) ?? [])
})

/** A message that was attempted so often; null where it was delivered, given up, or begun anew since. */
export const message = (id: string, attempts_made: number): Load<MessageRecord | null> => ({
  asks: [{ _tag: "Message", id }],
  read: (slice) => {
    const row = slice.messages.get(id)
    return Either.right(row === undefined || row.attempts_made !== attempts_made ? null : row)
  }
})

/** A replay with the next events that it asks for; null where there is no such replay. */
export const replay = (
  id: string,
  most: number
): Load<{ readonly record: ReplayRecord; readonly next: EventRange } | null> => ({
  asks: [{ _tag: "Replay", id, most }],
  read: (slice) => {
    const record = slice.replays.get(id)
    return Either.right(record === undefined ? null : { record, next: slice.replayable(record, most) })
  }
})
