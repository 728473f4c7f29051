import { Context, Data, type Effect, type Stream } from "effect"
import type { ShopSnapshot } from "../decisions/ChangeSet.js"
import type { Command, Outcome } from "../decisions/Command.js"
import type { VisibleClient } from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ClientAccount, ClientLink } from "../domain/Client.js"
import type { AttemptRecord, DeliveryState, ReplayFilter, SentEvent } from "../domain/Delivery.js"
import type { EventRecord } from "../domain/Event.js"
import type { EventType } from "../domain/EventType.js"
import type { IdempotencyRecord, IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { LimitReached, LimitStatus, LimitUse } from "../domain/LimitWindow.js"
import type { CardRecord, LedgerEntry } from "../domain/LoyaltyCard.js"
import type { DueNotification, NotificationReceiver, NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Person } from "../domain/Person.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopNotFound, ShopRecord, ShopsAhead } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { TrackedTicket } from "../domain/TrackedTicket.js"
import type { NoticeRecord, Webhook } from "../domain/Webhook.js"
import type { ListedTickets, SeenTickets, TicketFilter, TicketOrder } from "./TicketList.js"

/** A delivery that belongs to this process until its lease (`ServiceLimits.delivery_lease_ms`) ends. */
export interface Claim {
  /** The shop of the event. */
  readonly shop_id: ShopId
  /** The event to send. */
  readonly event_id: EventId
  /** The claim's token, which shows whether another claim was made before the attempt is recorded. */
  readonly token: number
  /** The current webhook, with its URL and its signing secrets. */
  readonly webhook: Webhook
  /** The event's text, byte for byte. */
  readonly body: string
}

/** A replay that is not finished. */
export interface OpenReplay {
  /** The shop whose events are sent again. */
  readonly shop_id: ShopId
  /** The id of the {@link ReplayRecord}. */
  readonly id: string
}

/**
 * The queue of deliveries. Commands write its rows, and this port only claims them. Leases use the store's own clock in
 * real time, so neither a sandbox nor a process with a wrong clock holds a delivery too long.
 */
export class Deliveries extends Context.Tag("@workshop/core/Deliveries")<
  Deliveries,
  {
    /**
     * Claims at most `max` deliveries due at `now`, shop by shop, so that a shop with a long queue delays no other: at
     * most four of a shop in flight, at most one of a ticket, the deliveries of a ticket in the order of its events,
     * live ones before replayed ones, and none of a webhook that is off. A delivery that waits for its retry does not
     * delay the later ones of its ticket. No delivery is claimed by two processes at once.
     */
    readonly claim: (now: Instant, max: number) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** Makes deliveries due again whose lease has ended, such as after a crash of their process. This uses up no attempt. Returns their number. */
    readonly reclaim: Effect.Effect<number, StoreUnavailable>
    /** The earliest instant, at most `until`, at which a delivery becomes due that can be claimed; null if there is none. */
    readonly next: (until: Instant) => Effect.Effect<Instant | null, StoreUnavailable>
    /** Completes when a delivery may have become due. It may complete without a reason, or miss a change, so the caller also polls. */
    readonly changed: Effect.Effect<void>
    /** Unfinished replays, oldest first, at most `ServiceLimits.replays_per_look`. */
    readonly replays: Effect.Effect<ReadonlyArray<OpenReplay>, StoreUnavailable>
  }
>() {}

/** The data of a person in a shop, except events and idempotency records. */
export interface PersonShopData {
  /** The relation of the client and the shop; null if there is none. */
  readonly link: ClientLink | null
  /** The client's card; null if they have none. */
  readonly card: CardRecord | null
  /** All entries of the card's ledger. */
  readonly ledger: ReadonlyArray<LedgerEntry>
  /** Offers to the person's numbers. */
  readonly offers: ReadonlyArray<OfferRecord>
  /** The notifications of the client, and those about these tickets. */
  readonly notifications: ReadonlyArray<NotificationRecord>
  /** Tickets with the person as the client or one of the numbers, and tickets of these offers, notifications and ledger entries. */
  readonly tickets: ReadonlyArray<TicketRecord>
}

/** A page of idempotency records, with the position of the next page, or null if there is none. */
export interface IdempotencyRecordPage {
  /** The records of this page; it can be empty although there is a next page. */
  readonly records: ReadonlyArray<IdempotencyRecord>
  /** The key to pass for the next page; null on the last page. */
  readonly next: IdempotencyRecordKey | null
}

/** The data of one person in all shops, for export and erasure. API requests do not use this port. */
export class PersonalData extends Context.Tag("@workshop/core/PersonalData")<
  PersonalData,
  {
    /**
     * Deletes the account, so that no shop sees the client any more, and stores the person until `endErasure`: the
     * account's names and number, and the further numbers of this call and earlier ones. Null if there is neither such
     * an account nor an unfinished erasure.
     */
    readonly beginErasure: (
      id: ClientId,
      phones: ReadonlyArray<Phone>
    ) => Effect.Effect<Person | null, StoreUnavailable>
    /** Deletes the person that `beginErasure` stored. */
    readonly endErasure: (id: ClientId) => Effect.Effect<void, StoreUnavailable>
    /** The shops that have a link, ticket, offer, card or notification of the person, ordered by id. */
    readonly shops: (person: Person) => Effect.Effect<ReadonlyArray<ShopId>, StoreUnavailable>
    /** All data of the person in a shop, however many. A store reads them in parts of `ServiceLimits.personal_data_page`. */
    readonly readShopData: (shop_id: ShopId, person: Person) => Effect.Effect<PersonShopData, StoreUnavailable>
    /**
     * Reads `ServiceLimits.erasure_batch_events` events from `from_seq` on, and returns those that belong to one of the tickets, or whose
     * text contains the person's id or one of the numbers.
     */
    readonly events: (
      shop_id: ShopId,
      person: Person,
      tickets: ReadonlyArray<TicketId>,
      from_seq: number
    ) => Effect.Effect<ReadonlyArray<SentEvent>, StoreUnavailable>
    /** Some of the idempotency records after `after` that belong to one of the tickets, or contain the person's id or a number. */
    readonly idempotencyRecords: (
      shop_id: ShopId,
      person: Person,
      tickets: ReadonlyArray<TicketId>,
      after: IdempotencyRecordKey | null
    ) => Effect.Effect<IdempotencyRecordPage, StoreUnavailable>
  }
>() {}

/** The counts of requests, writes, look-ups and requests without a valid key, which all processes of a service share (Specification, Limits). */
export class RateLimits extends Context.Tag("@workshop/core/RateLimits")<
  RateLimits,
  {
    /** Takes one use of every policy. If any has no use left, it takes none and fails with these policies. Concurrent calls never exceed a limit. */
    readonly take: (
      uses: ReadonlyArray<LimitUse>,
      now: Instant
    ) => Effect.Effect<ReadonlyArray<LimitStatus>, LimitReached | StoreUnavailable>
    /** Gives back the uses that resulted in `limitStatuses`, if their windows are still open, for responses that the contract does not count. */
    readonly giveBack: (
      uses: ReadonlyArray<LimitUse>,
      limitStatuses: ReadonlyArray<LimitStatus>
    ) => Effect.Effect<void, StoreUnavailable>
    /** Reads the status of a limit without using it. */
    readonly peek: (use: LimitUse, now: Instant) => Effect.Effect<LimitStatus, StoreUnavailable>
  }
>() {}

/** The deliveries of an event to the shop's webhook. */
export interface LoggedDelivery {
  /** The event. */
  readonly event_id: EventId
  /** The `seq` of the event. */
  readonly seq: number
  /** The type of the event. */
  readonly type: EventType
  /** The state of the delivery. */
  readonly state: DeliveryState
  /** The instant of the next attempt; null if there is none, or while the webhook is off. */
  readonly next_attempt_at: Instant | null
  /** The latest `ServiceLimits.attempts_read_max` attempts, oldest first. */
  readonly attempts: ReadonlyArray<AttemptRecord>
}

/** The deliveries of a shop, for its owner (Specification, Sandbox). */
export class DeliveryLog extends Context.Tag("@workshop/core/DeliveryLog")<
  DeliveryLog,
  {
    /** The latest deliveries of a part, at most its limit, in the order of the events. An event raised without a webhook has no delivery. */
    readonly deliveries: (
      shop_id: ShopId,
      part?: EventPart
    ) => Effect.Effect<ReadonlyArray<LoggedDelivery>, StoreUnavailable>
    /** How many events a replay with this filter would send now. */
    readonly count: (shop_id: ShopId, filter: ReplayFilter) => Effect.Effect<number, StoreUnavailable>
    /** The owner's notices, the latest `ServiceLimits.list_max`, oldest first. */
    readonly notices: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<NoticeRecord>, StoreUnavailable>
  }
>() {}

/**
 * The notifications to clients and the notices to owners that wait to be sent (Specification, States; Webhooks). Commands write their
 * rows. An entry is only a hint: a command decides which process sends it, so if two processes find the same entry, only one sends it.
 */
export class NotificationQueue extends Context.Tag("@workshop/core/NotificationQueue")<
  NotificationQueue,
  {
    /** At most `limit` entries due at `until` or before, for all receivers or for one kind, earliest first, with their content. */
    readonly due: (
      until: Instant,
      limit: number,
      receiver?: NotificationReceiver
    ) => Effect.Effect<ReadonlyArray<DueNotification>, StoreUnavailable>
    /** At most `limit` entries of a shop due after `after`, earliest first, with their content. */
    readonly dueAfter: (
      shop_id: ShopId,
      after: Instant,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DueNotification>, StoreUnavailable>
  }
>() {}

/** A ticket that waits for its automatic closure. */
export interface DueClosure {
  /** The shop of the ticket. */
  readonly shop_id: ShopId
  /** The ticket to close. */
  readonly id: TicketId
  /** When the ticket is to be closed, in milliseconds since 1970. */
  readonly due_at: Instant
}

/**
 * The tickets that wait for their automatic closure (Specification, States). An entry is only a hint: the command decides whether a ticket
 * is closed, so if two processes find the same entry, the ticket is closed once.
 */
export class Closures extends Context.Tag("@workshop/core/Closures")<
  Closures,
  {
    /** At most `limit` tickets due at `until` or before, earliest first. */
    readonly due: (until: Instant, limit: number) => Effect.Effect<ReadonlyArray<DueClosure>, StoreUnavailable>
  }
>() {}

/** The acts of owners and operators. Commands write the entries of acts on a shop. No method changes or deletes an entry, and a store keeps them permanently. */
export class AuditLog extends Context.Tag("@workshop/core/AuditLog")<
  AuditLog,
  {
    /** Adds the entry of an act that is not a command of a shop. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` entries before the entry `before`, the latest first, of one shop, or of all shops for null. */
    readonly list: (
      shop_id: ShopId | null,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>() {}

/** A reference to an object whose shop is looked up, for acts that do not name a shop. */
export type OwnedRef =
  | { readonly _tag: "Ticket"; readonly id: TicketId }
  | { readonly _tag: "Offer"; readonly id: OfferId }
  | { readonly _tag: "Key"; readonly id: KeyId }

type Page<Id, Row> = (after: Id | null, limit: number) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>

/** The data that belong to no single shop: the shops themselves, client accounts, and the shop of a key, ticket or offer. */
export class Directory extends Context.Tag("@workshop/core/Directory")<
  Directory,
  {
    /** Creates a shop with an empty head. */
    readonly createShop: (shop: ShopRecord) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` shops ordered by id, which is the order of their creation; only those after `after`, if given. */
    readonly listShops: Page<ShopId, ShopRecord>
    /** Whether there is a shop. */
    readonly hasShops: Effect.Effect<boolean, StoreUnavailable>
    /**
     * Returns true for the first call on this store and false for all later calls, so that of several processes that
     * start together, only one creates the first shop.
     */
    readonly claimFirstShop: Effect.Effect<boolean, StoreUnavailable>
    /** Whether a sandbox created the data. This never changes, and a production server refuses such data (Specification, Keys and scopes). */
    readonly isSandboxMade: Effect.Effect<boolean, StoreUnavailable>
    /** Records permanently that the data belong to a sandbox. */
    readonly markSandboxMade: Effect.Effect<void, StoreUnavailable>
    /** The latest recorded instant of all shops; 0 if there is none. A clock must not be earlier. */
    readonly latest: Effect.Effect<Instant, StoreUnavailable>
    /** The shops whose latest recorded instant is later than the given one. */
    readonly shopsAhead: (of: Instant) => Effect.Effect<ShopsAhead, StoreUnavailable>
    /** Creates a client account. Returns false, and creates none, if another account has the number. */
    readonly createClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** At most `limit` accounts ordered by id, which is the order of their creation; only those after `after`, if given. */
    readonly listClients: Page<ClientId, ClientAccount>
    /** Replaces the account with this id. Returns false, and changes nothing, if another account has the number. */
    readonly changeClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** The key with this hash and its shop, even if it is revoked; null if there is none. */
    readonly keyByHash: (
      hash: string
    ) => Effect.Effect<{ readonly key: ApiKeyRecord; readonly shop: ShopRecord } | null, StoreUnavailable>
    /** Records when keys were last used, by their ids. An instant earlier than the recorded instant changes nothing. */
    readonly keysUsed: (uses: ReadonlyMap<KeyId, Instant>) => Effect.Effect<void, StoreUnavailable>
    /** The shop to which an object belongs; null if there is no such object. */
    readonly shopOf: (thing: OwnedRef) => Effect.Effect<ShopId | null, StoreUnavailable>
    /** The tickets of all shops with this tracking code in its stored form, with the fields of their pages: at most `ServiceLimits.tracked_max`. */
    readonly tracked: (tracking_code: string) => Effect.Effect<ReadonlyArray<TrackedTicket>, StoreUnavailable>
    /** The accounts with these numbers, in any order. */
    readonly holders: (phones: ReadonlyArray<Phone>) => Effect.Effect<ReadonlyArray<ClientAccount>, StoreUnavailable>
    /** The account with this id; null if there is none. */
    readonly account: (id: ClientId) => Effect.Effect<ClientAccount | null, StoreUnavailable>
    /**
     * The offers to a client's number that the client sees, limited by `latestOfShops`, oldest first, without open
     * offers of a shop that they block.
     */
    readonly offers: (id: ClientId) => Effect.Effect<ReadonlyArray<OfferRecord>, StoreUnavailable>
    /**
     * A stream of the shops whose keys or settings changed in another process. A null means that changes may have been missed, so that any
     * shop may have changed. The stream is empty if there is only one process.
     */
    readonly changedShops: Stream.Stream<ShopId | null>
    /** The client's notifications in the app, limited by `latestOfShops`, oldest first. */
    readonly inbox: (id: ClientId) => Effect.Effect<ReadonlyArray<NotificationRecord>, StoreUnavailable>
  }
>() {}

/** A client as a shop sees them, with the counts of their tickets there. */
export interface CountedClient extends VisibleClient {
  /** The shop, whose settings the view of the client needs. */
  readonly shop: ShopRecord
  /** The number of the client's tickets in the shop that are in {@link openStates}. */
  readonly tickets_open: number
  /** The number of the client's tickets in the shop, in any state. */
  readonly tickets_total: number
}

/** A part of a shop's events: at most `limit`, by default `ServiceLimits.list_max`, the latest ones before the event `before`. */
export interface EventPart {
  /** An event's `seq`. To read the part before this one, pass the `seq` of this part's first event. */
  readonly before?: number | undefined
  /** The maximum number of events; `ServiceLimits.list_max` by default. */
  readonly limit?: number | undefined
}

/**
 * The reads of a shop, each from one snapshot of committed data. The cost of a read does not depend on how many tickets the shop has; the
 * cost of reading a client grows with the client's own tickets there, which are counted. Clients whom the shop does not know and clients
 * who block it give the same result at the same cost, because the response time must not reveal who has an account.
 */
export class Reads extends Context.Tag("@workshop/core/Reads")<
  Reads,
  {
    /** The shop's settings, head and webhook; null if there is no such shop. */
    readonly shop: (shop_id: ShopId) => Effect.Effect<ShopSnapshot | null, StoreUnavailable>
    /** One ticket of the shop; the result has no ticket if there is none. */
    readonly ticket: (shop_id: ShopId, id: TicketId) => Effect.Effect<SeenTickets, ShopNotFound | StoreUnavailable>
    /** At most `limit` tickets; fewer, or none, if the list continues at `unread_from`. A `client_id` that the shop does not see matches nothing. */
    readonly tickets: (
      shop_id: ShopId,
      filter: TicketFilter,
      order: TicketOrder,
      limit: number
    ) => Effect.Effect<ListedTickets, ShopNotFound | StoreUnavailable>
    /** The newest open ticket with a number, or else the newest, then at most `limit` others, newest first. */
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
    /** The shop's latest `ServiceLimits.list_max` keys, including revoked ones, oldest first. */
    readonly keys: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<ApiKeyRecord>, StoreUnavailable>
    /**
     * Those of the given references that are the `external_ref` of a ticket of the shop, or a ticket's id in lower
     * case.
     */
    readonly externalRefs: (
      shop_id: ShopId,
      refs: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
    /** The latest events of a part, in the order in which they were raised. */
    readonly events: (shop_id: ShopId, part?: EventPart) => Effect.Effect<ReadonlyArray<EventRecord>, StoreUnavailable>
  }
>() {}

/** The store cannot be reached, had no free connection, or did not respond in time. Try again (Specification, Errors). */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly cause?: unknown
  /** The error and what to do about it, if waiting alone does not help: for the operator, without secrets or addresses. */
  readonly remedy?: string
  /** The cause, such as `connect ECONNREFUSED 127.0.0.1:5432`, for the operator's log, without secrets. No response contains it. */
  readonly reason?: string
}> {
  /** The problem and, if there is one, its remedy. Responses contain another text. */
  override get message() {
    return this.remedy ?? `The store cannot be reached${this.reason ? ` (${this.reason})` : ""}. Try again in a moment.`
  }
}

/** All writes to a shop go through this port. */
export class Store extends Context.Tag("@workshop/core/Store")<
  Store,
  {
    /**
     * Loads the rows that `command` requests, runs it alone on its shop, and saves all its changes, or none. Commands
     * of one shop run one after another, across all processes; a command that succeeded has been saved. A command that
     * is interrupted before it begins never runs; afterwards it runs to its end. A `run` that throws fails only this
     * command. If a constraint of the store rejects the changes, such as a tracking code that exists already, the
     * command runs again with a new time and new random bytes. An unknown shop fails with `ShopNotFound`.
     */
    readonly transact: <A, E>(command: Command<A, E>) => Effect.Effect<Outcome<A>, E | ShopNotFound | StoreUnavailable>
  }
>() {}

/** The given client cannot be used to join its transaction; nothing was written. */
export class TransactionRefused extends Data.TaggedError("TransactionRefused")<{ readonly message: string }> {}

/** A callback after the commit of a command that joined an embedder's transaction. */
export interface CommitCallback {
  /** Notifies caches, dispatchers or listeners. */
  readonly notify: () => void
  /** The events that `notify` reports. If the embedder rolled one of them back to a savepoint, `notify` is not called. */
  readonly events: ReadonlyArray<Pick<EventRecord, "shop_id" | "id">>
}

/** The embedder's transaction in which a fiber's commands run; null if the store makes its own. */
export class OpenTransaction extends Context.Reference<OpenTransaction>()("@workshop/core/OpenTransaction", {
  defaultValue: (): { readonly onCommit: Array<CommitCallback> } | null => null
}) {}

/** A transaction that an embedder begins, ends, and may roll back. */
export interface JoinedTransaction {
  /**
   * Runs an effect whose commands and reads use the transaction, one after another. Commands lock their shop until the
   * transaction ends. A command that is refused or fails leaves the transaction unchanged. `run` waits for the fibers
   * that the effect forked. A command that runs after `run` has ended, or after the transaction, dies with
   * `TransactionRefused` and does nothing. An effect that itself ended the transaction dies with `TransactionRefused`
   * at its end, because what it wrote can no longer be rolled back with the caller's rows.
   */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Like `run`, but does not check afterwards whether the transaction is still open. After several parts, `run(Effect.void)` checks this. */
  readonly part: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Notifies dispatchers, caches and listeners of the changes. Call it after the commit. It leaves out events that were rolled back to a
   * savepoint before the end of `run`.
   */
  readonly afterCommit: Effect.Effect<void>
}

/** Lets commands commit together with an embedder's own rows. */
export class Transactions extends Context.Tag("@workshop/core/Transactions")<
  Transactions,
  {
    /**
     * Joins the open transaction of a database client. Refused if the client is in no transaction, or is not connected
     * to this store's database.
     */
    readonly join: (client: unknown) => Effect.Effect<JoinedTransaction, TransactionRefused | StoreUnavailable>
  }
>() {}

/** The implementation for a store without transactions. */
export const noTransactions: Context.Tag.Service<Transactions> = {
  join: () =>
    new TransactionRefused({
      message:
        "This store has no transactions that a client could share. Use the Postgres store, in the client's database."
    })
}

/** Reads and removes all data of a sandbox (Specification, Sandbox). */
export class SandboxData extends Context.Tag("@workshop/core/SandboxData")<
  SandboxData,
  {
    /** All data of a shop except its audit log, from one snapshot, as a list of changes. Applied in this order to a newly created shop, they reproduce its data. */
    readonly ofShop: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<Change>, StoreUnavailable>
    /**
     * Removes all shops, accounts, counts of limits and audit entries. Returns false, and removes nothing, if no sandbox made
     * the data. The empty store still counts as a sandbox's.
     */
    readonly clear: Effect.Effect<boolean, StoreUnavailable>
  }
>() {}

/** All the ports of a store. */
export type StorePorts =
  | AuditLog
  | Closures
  | Deliveries
  | DeliveryLog
  | Directory
  | NotificationQueue
  | PersonalData
  | RateLimits
  | Reads
  | Store
  | Transactions
  | SandboxData
