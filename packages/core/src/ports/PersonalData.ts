import { Context, type Effect } from "effect"
import type { ClientLink } from "../domain/Client.js"
import type { SentEvent } from "../domain/Delivery.js"
import type { IdempotencyRecord, IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import type { CardRecord, LedgerEntry } from "../domain/LoyaltyCard.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Person } from "../domain/Person.js"
import type { Phone } from "../domain/Phone.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { StoreUnavailable } from "./Store.js"

/** What a shop has of a person, apart from events and remembered answers. */
export interface HeldData {
  readonly link: ClientLink | null
  readonly card: CardRecord | null
  readonly ledger: ReadonlyArray<LedgerEntry>
  /** Offers to the person's numbers. */
  readonly offers: ReadonlyArray<OfferRecord>
  readonly notifications: ReadonlyArray<NotificationRecord>
  /** Tickets that bear the person or one of the numbers, or that an offer, a notification or the ledger names. */
  readonly tickets: ReadonlyArray<TicketRecord>
}

/** Some first answers, and where to look on; null where all were looked at. */
export interface HeldAnswers {
  readonly found: ReadonlyArray<IdempotencyRecord>
  readonly next: IdempotencyRecordKey | null
}

/** What is stored of one person, over all shops: to hand it out, and to erase it. Nothing here is in the path of a request. */
export class PersonalData extends Context.Tag("@workshop/core/PersonalData")<
  PersonalData,
  {
    /**
     * Takes the account away, so that no shop sees the client any more, and remembers whom to look for until
     * `endErasure`: the account's names and number, and the further numbers given, now or by an earlier call. Null where
     * there is neither such an account nor an erasure begun.
     */
    readonly beginErasure: (
      id: ClientId,
      phones: ReadonlyArray<Phone>
    ) => Effect.Effect<Person | null, StoreUnavailable>
    /** Forgets whom to look for. */
    readonly endErasure: (id: ClientId) => Effect.Effect<void, StoreUnavailable>
    /** The shops that have a link, ticket, offer, card or notification of the person, in the order of their ids. */
    readonly shops: (person: Person) => Effect.Effect<ReadonlyArray<ShopId>, StoreUnavailable>
    /** What a shop has of the person. */
    readonly held: (shop_id: ShopId, person: Person) => Effect.Effect<HeldData, StoreUnavailable>
    /**
     * Of the `ServiceLimits.erasure_batch_events` events from `from_seq` on those that are of the tickets, or whose text has the person's id or one
     * of the numbers.
     */
    readonly events: (
      shop_id: ShopId,
      person: Person,
      tickets: ReadonlyArray<TicketId>,
      from_seq: number
    ) => Effect.Effect<ReadonlyArray<SentEvent>, StoreUnavailable>
    /** Some of the remembered answers after `after` that are one of the tickets, or have the person's id or a number in them. */
    readonly answers: (
      shop_id: ShopId,
      person: Person,
      tickets: ReadonlyArray<TicketId>,
      after: IdempotencyRecordKey | null
    ) => Effect.Effect<HeldAnswers, StoreUnavailable>
  }
>() {}
