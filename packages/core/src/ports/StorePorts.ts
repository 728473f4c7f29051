import { Context, Data, type Effect, type Stream } from "effect"
import type { Command, HeldShop, Outcome } from "../decisions/Command.js"
import type { SeenClient } from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { Client, ClientAccount, ClientLink } from "../domain/Client.js"
import type { AttemptRecord, DeliveryState, ReplayFilter, SentEvent } from "../domain/Delivery.js"
import type { EventRecord } from "../domain/Event.js"
import type { EventType } from "../domain/EventType.js"
import type { IdempotencyRecord, IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { LimitReached, LimitStatus, LimitUse } from "../domain/LimitWindow.js"
import type { CardRecord, LedgerEntry } from "../domain/LoyaltyCard.js"
import type { Message, NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Person } from "../domain/Person.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopNotFound, ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { TicketState } from "../domain/TicketLifecycle.js"
import type { TrackedTicket } from "../domain/TrackedTicket.js"
import type { NoticeRecord, Webhook } from "../domain/Webhook.js"

/** A delivery that is this process's to make, until its lease (`ServiceLimits.delivery_lease_ms`) ends. */
export interface Claim {
  readonly shop_id: ShopId
  readonly event_id: EventId
  /** Proves, when the attempt is recorded, that no other claim was made since. */
  readonly token: number
  /** As it is now: where to send and which secrets sign. */
  readonly webhook: Webhook
  /** The event's text, byte for byte. */
  readonly body: string
}

/** A replay that has steps to take. */
export interface OpenReplay {
  readonly shop_id: ShopId
  readonly id: string
}

/**
 * The queue of deliveries. Their rows are written by commands; this port only hands them out. Leases are counted on the
 * store's own clock in real time, so neither a sandbox nor a process whose clock is off holds a delivery too long.
 */
export class Deliveries extends Context.Tag("@workshop/core/Deliveries")<
  Deliveries,
  {
    /**
     * At most `most` deliveries due at `now`, going round the shops, so that one with a long queue delays no other:
     * no more than four of a shop in flight, one of a ticket, a ticket's in the order of its events, live ones before
     * replayed ones, none of a webhook that is off. No delivery is claimed by two processes at once.
     */
    readonly claim: (now: Instant, most: number) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** Puts deliveries back whose lease has ended because their process died. It uses up none of their attempts. */
    readonly reclaim: Effect.Effect<number, StoreUnavailable>
    /** The earliest instant, at most `until`, at which a delivery is due that could be claimed; null where there is none. */
    readonly next: (until: Instant) => Effect.Effect<Instant | null, StoreUnavailable>
    /** Returns when something may have become due. It may return early or for nothing; a slow poll covers what it misses. */
    readonly changed: Effect.Effect<void>
    /** Replays that have steps to take, oldest first, at most `ServiceLimits.replays_per_look`. */
    readonly replays: Effect.Effect<ReadonlyArray<OpenReplay>, StoreUnavailable>
  }
>() {}

/** The data of a person in a shop, apart from events and remembered answers. */
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

/** The data of one person, over all shops: to hand it out, and to erase it. Nothing here is in the path of a request. */
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
    /** The person's data in a shop. */
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

/** The counts behind request, write, look-up and unauthenticated limits, shared by all processes of one service (Specification, Limits). */
export class RateLimits extends Context.Tag("@workshop/core/RateLimits")<
  RateLimits,
  {
    /** Takes one use of every policy, or of none: then those refuse that have none left. Concurrent takes never overdraw. */
    readonly take: (
      takes: ReadonlyArray<LimitUse>,
      now: Instant
    ) => Effect.Effect<ReadonlyArray<LimitStatus>, LimitReached | StoreUnavailable>
    /** Returns uses that a take answered with `taken`, where their windows are still open: for answers that the contract does not count. */
    readonly giveBack: (
      takes: ReadonlyArray<LimitUse>,
      taken: ReadonlyArray<LimitStatus>
    ) => Effect.Effect<void, StoreUnavailable>
    /** Reads the status of a limit without using it. */
    readonly look: (take: LimitUse, now: Instant) => Effect.Effect<LimitStatus, StoreUnavailable>
  }
>() {}

/** The deliveries of an event to the shop's webhook. */
export interface LoggedDelivery {
  readonly event_id: EventId
  /** The place of the event among those of its shop. */
  readonly seq: number
  readonly type: EventType
  readonly state: DeliveryState
  /** Null where no attempt is to come, or none while the webhook is off. */
  readonly next_attempt_at: Instant | null
  readonly attempts: ReadonlyArray<AttemptRecord>
}

/** The deliveries that a shop's owner can read (Specification, Sandbox). */
export class DeliveryLog extends Context.Tag("@workshop/core/DeliveryLog")<
  DeliveryLog,
  {
    /** The latest deliveries of a part, at most its limit, in the order of the events; events raised without a webhook have none. */
    readonly deliveries: (
      shop_id: ShopId,
      part?: EventPart
    ) => Effect.Effect<ReadonlyArray<LoggedDelivery>, StoreUnavailable>
    /** How many events a replay with this filter would send again now. */
    readonly count: (shop_id: ShopId, filter: ReplayFilter) => Effect.Effect<number, StoreUnavailable>
    /** The owner's notices, the latest `ServiceLimits.list_max`, oldest first. */
    readonly notices: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<NoticeRecord>, StoreUnavailable>
  }
>() {}

/**
 * The messages that wait to be sent (Specification, States; Webhooks). Their rows are written by commands; an entry is only a hint: the command decides who sends a message, so of two processes that find the same entry one begins.
 */
export class Messages extends Context.Tag("@workshop/core/Messages")<
  Messages,
  {
    /** At most `limit` messages due at `until` or before, earliest first, with what they say. */
    readonly due: (until: Instant, limit: number) => Effect.Effect<ReadonlyArray<Message>, StoreUnavailable>
  }
>() {}

/** A ticket whose automatic closure awaits it. */
export interface DueClosure {
  readonly shop_id: ShopId
  readonly id: TicketId
  readonly due_at: Instant
}

/**
 * Which tickets await their automatic closure (Specification, States). An entry is only a hint to look: whether a ticket is
 * closed is decided by its command, so two processes that find the same entry close it once.
 */
export class Closures extends Context.Tag("@workshop/core/Closures")<
  Closures,
  {
    /** At most `limit` tickets due at `until` or before, earliest first. */
    readonly due: (until: Instant, limit: number) => Effect.Effect<ReadonlyArray<DueClosure>, StoreUnavailable>
  }
>() {}

/**
 * The acts of owners and operators. Entries of acts on a shop are written by their commands; no method changes or removes
 * one, and a store keeps them for good.
 */
export class AuditLog extends Context.Tag("@workshop/core/AuditLog")<
  AuditLog,
  {
    /** Adds the entry of an act that no command of a shop does. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` entries, the latest first: of one shop, or all for null; those before the entry `before`. */
    readonly list: (
      shop_id: ShopId | null,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>() {}

/** A thing whose shop is asked for: for acts that carry no shop. */
export type Belonging =
  | { readonly _tag: "Ticket"; readonly id: TicketId }
  | { readonly _tag: "Offer"; readonly id: OfferId }
  | { readonly _tag: "Key"; readonly id: KeyId }

/** The data that belong to no one shop: the shops themselves, client accounts, and whose a key or a thing is. */
export class Directory extends Context.Tag("@workshop/core/Directory")<
  Directory,
  {
    /** Opens a shop with an untouched head. */
    readonly createShop: (shop: ShopRecord) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` shops in the order of their ids, which is that of their opening; after `after` where it is given. */
    readonly listShops: (
      after: ShopId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShopRecord>, StoreUnavailable>
    /** Whether the data were made by a sandbox, for good: never in earnest (Specification, Keys and scopes). */
    readonly isSandboxMade: Effect.Effect<boolean, StoreUnavailable>
    /** Notes that the data are a sandbox's. */
    readonly markSandboxMade: Effect.Effect<void, StoreUnavailable>
    /** The latest instant at which any shop did something; 0 where none did. A clock set to no earlier time is in no shop's past. */
    readonly latest: Effect.Effect<Instant, StoreUnavailable>
    /** Opens a client account; false, and nothing opened, where another account holds the number. */
    readonly createClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** At most `limit` accounts in the order of their ids, which is that of their opening; after `after` where it is given. */
    readonly listClients: (
      after: ClientId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ClientAccount>, StoreUnavailable>
    /** Replaces the account with this id; false, and nothing changed, where another account holds the number. */
    readonly changeClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** The key with this hash and its shop, revoked or not; null where there is none. */
    readonly keyByHash: (
      hash: string
    ) => Effect.Effect<{ readonly key: ApiKeyRecord; readonly shop: ShopRecord } | null, StoreUnavailable>
    /** Notes when keys were last used, each by its id; an earlier instant than the one noted changes nothing. */
    readonly keysUsed: (uses: ReadonlyMap<KeyId, Instant>) => Effect.Effect<void, StoreUnavailable>
    /** The shop to which a thing belongs; null where there is no such thing. */
    readonly shopOf: (thing: Belonging) => Effect.Effect<ShopId | null, StoreUnavailable>
    /**
     * The tickets of all shops that have a tracking code, written as it is kept, with what their pages may show: mostly one or none,
     * because codes are unique only within a shop. At most `ServiceLimits.tracked_max`, however many there are.
     */
    readonly tracked: (tracking_code: string) => Effect.Effect<ReadonlyArray<TrackedTicket>, StoreUnavailable>
    /** The account with this id; null where there is none. */
    readonly account: (id: ClientId) => Effect.Effect<ClientAccount | null, StoreUnavailable>
    /** The offers to a client's number that the client sees, oldest first, the latest of each shop: none still open of a shop they block. */
    readonly offers: (id: ClientId) => Effect.Effect<ReadonlyArray<OfferRecord>, StoreUnavailable>
    /**
     * The shops of which keys or settings changed in another process, as it is heard of; null where something may have been
     * missed, so that anything may have changed. Empty where there is but one process.
     */
    readonly news: Stream.Stream<ShopId | null>
    /** The client's notifications in the app, oldest first, the latest of each shop. */
    readonly inbox: (id: ClientId) => Effect.Effect<ReadonlyArray<NotificationRecord>, StoreUnavailable>
  }
>() {}

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
 * The reads of a shop, each from one snapshot of committed data. The cost of a read does not depend on how many tickets
 * the shop has; that of a client grows with the client's own tickets there, which it counts. Clients whom the shop does not know and clients who block it are absent alike, and at the same cost: the response time must not reveal who has an account.
 */
export class Reads extends Context.Tag("@workshop/core/Reads")<
  Reads,
  {
    /** The shop's settings, head and webhook; null where there is no such shop. */
    readonly shop: (shop_id: ShopId) => Effect.Effect<HeldShop | null, StoreUnavailable>
    /** One ticket of the shop, or none. */
    readonly ticket: (shop_id: ShopId, id: TicketId) => Effect.Effect<SeenTickets, ShopNotFound | StoreUnavailable>
    /** At most `limit` tickets; fewer, or none, where `unread_from` says that the list goes on. A `client_id` that the shop does not see matches nothing. */
    readonly tickets: (
      shop_id: ShopId,
      filter: TicketFilter,
      order: TicketOrder,
      limit: number
    ) => Effect.Effect<ListedTickets, ShopNotFound | StoreUnavailable>
    /** The ticket that `by-number` means (the newest open one, else the newest), then at most `limit` others, newest first. */
    readonly ticketsOfNumber: (
      shop_id: ShopId,
      number: number,
      limit: number
    ) => Effect.Effect<SeenTickets, ShopNotFound | StoreUnavailable>
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

/** The store cannot be reached or did not settle in time. It is unknown whether it will be back soon; try again (Specification, Errors). */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly cause?: unknown
  /** The cause and the remedy, where waiting does not help: a sentence for the operator, without secrets or addresses. */
  readonly remedy?: string
}> {
  override get message() {
    return this.remedy ?? "The store cannot be reached; try again in a moment"
  }
}

/** Where all writes to a shop go. */
export class Store extends Context.Tag("@workshop/core/Store")<
  Store,
  {
    /**
     * Runs `command` alone on its shop with everything it asks for loaded, then saves all its changes, or none.
     * Commands of one shop run one after another, across all processes; whoever is answered has been saved.
     * Interrupted before its turn, a command never runs; afterwards it runs to its end. A `run` that throws
     * fails this command alone. Should a stored rule (such as a tracking code taken already) reject the changes,
     * the command runs again in a fresh moment. An unknown shop fails with `ShopNotFound`.
     */
    readonly transact: <A, E>(command: Command<A, E>) => Effect.Effect<Outcome<A>, E | ShopNotFound | StoreUnavailable>
  }
>() {}

/** A client that was given to join its transaction cannot be used for that; nothing was written. */
export class TransactionRefused extends Data.TaggedError("TransactionRefused")<{ readonly message: string }> {}

/** The transaction of an embedder's own in which a fiber's commands run; null for those that have one of the store's. */
export class OpenTransaction extends Context.Reference<OpenTransaction>()("@workshop/core/OpenTransaction", {
  defaultValue: (): { readonly onCommit: Array<() => void> } | null => null
}) {}

/** A transaction that an embedder began, ends, and may roll back. */
export interface JoinedTransaction {
  /**
   * Runs an effect whose commands and reads run in the transaction, one after another. Commands lock their shop until it ends. A
   * command that is refused or fails leaves the transaction as it was.
   */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Notifies dispatchers, caches and listeners at once. Call it after the commit; otherwise they find out by themselves. */
  readonly afterCommit: Effect.Effect<void>
}

/** How commands commit together with an embedder's own rows. */
export class Transactions extends Context.Tag("@workshop/core/Transactions")<
  Transactions,
  {
    /** Joins the open transaction of a database client; refused where it is none, or is not in this store's database. */
    readonly join: (client: unknown) => Effect.Effect<JoinedTransaction, TransactionRefused | StoreUnavailable>
  }
>() {}

/** For a store without transactions to join. */
export const noTransactions: Context.Tag.Service<Transactions> = {
  join: () =>
    new TransactionRefused({
      message:
        "This store has no transactions that a client could share: use the Postgres store, in the client's database"
    })
}

/** The data of a sandbox as a whole: to save them, and to begin anew (Specification, Sandbox). */
export class WholeData extends Context.Tag("@workshop/core/WholeData")<
  WholeData,
  {
    /**
     * All data of a shop but its audit log, from one snapshot, as changes: made in this order in the shop as it was opened, they
     * make it what it is.
     */
    readonly ofShop: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<Change>, StoreUnavailable>
    /**
     * Removes all shops, accounts, counts of limits and audit entries. Answers false, and removes nothing, where no sandbox made
     * the data. They count as a sandbox's afterwards too.
     */
    readonly clear: Effect.Effect<boolean, StoreUnavailable>
  }
>() {}

/** All that a store provides. */
export type StorePorts =
  | AuditLog
  | Closures
  | Deliveries
  | DeliveryLog
  | Directory
  | Messages
  | PersonalData
  | RateLimits
  | Reads
  | Store
  | Transactions
  | WholeData
