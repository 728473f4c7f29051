import { Either } from "effect"
import type { DisplayedClient } from "../domain/Client.js"
import { firstDelivery } from "../domain/Delivery.js"
import { type EventData, type EventRecord, eventBody } from "../domain/Event.js"
import type { EventType } from "../domain/EventType.js"
import type { EventId } from "../domain/Identifier.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import { applyEntry, type CardRecord, type LedgerEntry } from "../domain/LoyaltyCard.js"
import {
  IDENTIFIERS_PER_MS,
  type Moment,
  makeGrantIdentifier,
  makeIdentifier,
  type ShopMoment
} from "../domain/Moment.js"
import type { NotificationRecord, QueuedNotification } from "../domain/Notification.js"
import { identifiersAhead_ms, type ShopHead, type ShopRecord } from "../domain/Shop.js"
import { type Ticket, type TicketRecord, ticketView } from "../domain/Ticket.js"
import { serviceAuthor, withChange } from "../domain/TicketChange.js"
import type { NoticeRecord, Webhook } from "../domain/Webhook.js"
import type { Change } from "./ShopState.js"

/** A decision: its result, the changes to save with it, and the statuses of the limits that it used. */
export interface Decision<out A> {
  /** The value that the caller gets after the commit. */
  readonly result: A
  /** The changes, in the order in which they are applied and saved; all of them or none. */
  readonly changes: ReadonlyArray<Change>
  /** The limits that the command used, for the headers of the response. */
  readonly limitStatuses: ReadonlyArray<LimitStatus>
}

/** A shop with its counters and its webhook, which every decision gets in addition to the rows that its command loads. */
export interface ShopSnapshot {
  /** The settings. */
  readonly shop: ShopRecord
  /** The counters. */
  readonly head: ShopHead
  /** The webhook; null if none is set. */
  readonly webhook: Webhook | null
}

/** A decision that changes nothing. */
export const toUnchangedDecision = <A>(result: A): Either.Either<Decision<A>, never> =>
  Either.right({ result, changes: [], limitStatuses: [] })

type NotificationFields = Pick<NotificationRecord & NoticeRecord, "id" | "shop_id" | "created_at">
type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] }

/**
 * Collects the changes of one decision. It exists only during the decision, so the decision stays pure. It numbers the shop's changes
 * (`change_seq`) and its events (`event_seq`), and assigns identifiers.
 */
export class ChangeSet {
  readonly #changes: Array<Change> = []
  readonly #limitStatuses: Array<LimitStatus> = []
  readonly #moment: ShopMoment
  readonly #shop: ShopRecord
  readonly #webhook: Webhook | null
  readonly #head: Mutable<ShopHead>
  /** See {@link ShopHead.id_counter}. */
  #id_counter: number
  #id_moment: Moment | undefined
  /** The last saved ticket, until its first event is raised and becomes an entry in its history. */
  #ticketAwaitingHistory: Mutable<TicketRecord> | undefined

  constructor({ shop, head, webhook }: ShopSnapshot, moment: ShopMoment) {
    this.#moment = moment
    // The time by which identifiers are ahead of their instants never decreases, so a list by creation can find an
    // instant by identifier.
    this.#id_counter =
      moment.recorded_at === head.last_recorded_at ? head.id_counter : identifiersAhead_ms(head) * IDENTIFIERS_PER_MS
    this.#shop = shop
    this.#webhook = webhook
    this.#head = { ...head }
  }

  /**
   * A new identifier. It sorts after all earlier identifiers of the shop, even if other nodes made them (Specification,
   * Lists and sync).
   */
  newId<Id extends string>(): Id {
    const n = this.#id_counter++ % IDENTIFIERS_PER_MS
    return makeIdentifier<Id>(this.#idMoment(n), n)
  }

  /**
   * A new identifier that grants access, and that cannot be guessed from the shop's other identifiers. A decision has
   * at most one.
   */
  newGrantId<Id extends string>(): Id {
    const n = this.#id_counter++ % IDENTIFIERS_PER_MS
    return makeGrantIdentifier<Id>(this.#idMoment(n), n)
  }

  /**
   * The moment of the `n`th identifier: the recorded millisecond, or a later one if all identifiers of the recorded
   * millisecond are used.
   */
  #idMoment(n: number): Moment {
    const { recorded_at, entropy } = this.#moment
    if (this.#id_moment === undefined || n === 0)
      this.#id_moment = { now: recorded_at + Math.floor((this.#id_counter - 1) / IDENTIFIERS_PER_MS), entropy }
    return this.#id_moment
  }

  /** Adds a change. */
  add(change: Change): this {
    this.#changes.push(change)
    return this
  }

  /** Sets the counters of the shop that this class does not maintain itself. */
  updateHead(fields: Partial<Pick<ShopHead, "next_number" | "tickets_per_hour" | "tickets_per_day">>): this {
    Object.assign(this.#head, fields)
    return this
  }

  /** Adds the statuses of limits that the decision counted against, for the response's headers. */
  addLimitStatuses(...limitStatuses: ReadonlyArray<LimitStatus>): this {
    this.#limitStatuses.push(...limitStatuses)
    return this
  }

  /** The values of a ticket's fields for the order of changes that the shop's next change sets. */
  get nextChange(): Pick<TicketRecord, "updated_at" | "change_seq"> {
    return { updated_at: this.#moment.recorded_at, change_seq: this.#head.change_seq }
  }

  /**
   * Saves a ticket as the shop's next change, and returns the shop's view of the ticket. The next event that the
   * decision raises for the ticket becomes the entry in its history.
   */
  putTicket(record: Omit<TicketRecord, "updated_at" | "change_seq">, client: DisplayedClient | null): Ticket {
    return this.putSequencedTicket({ ...record, ...this.nextChange }, client)
  }

  /** Like {@link putTicket}, for a ticket that has the fields of {@link nextChange} already. */
  putSequencedTicket(row: TicketRecord, client: DisplayedClient | null): Ticket {
    this.#head.change_seq++
    this.#ticketAwaitingHistory = row
    this.add({ _tag: "TicketPut", row })
    return ticketView(row, this.#shop, client, this.#moment.tracking_base_url ?? null)
  }

  /** Adds an entry to the ledger, and the card that results from it (Specification, Clients and loyalty). */
  addLedgerEntry(
    card: CardRecord,
    entry: Pick<LedgerEntry, "kind" | "stamps" | "ticket_id" | "caller_id">
  ): CardRecord {
    const { shop_id, client_id } = card
    const row: LedgerEntry = { ...entry, shop_id, client_id, id: this.newId(), created_at: this.#moment.recorded_at }
    const next = applyEntry(card, row)
    this.add({ _tag: "LedgerAppended", row }).add({ _tag: "CardPut", row: next })
    return next
  }

  /**
   * Raises an event, whose text is frozen here. If a webhook is set, the event is to be delivered, even if the webhook is off
   * (Specification, Webhooks).
   */
  raiseEvent<T extends EventType>(type: T, data: EventData[T], ticket_id: EventRecord["ticket_id"]): EventRecord {
    const id = this.newId<EventId>()
    const { now, recorded_at } = this.#moment
    const shop_id = this.#shop.id
    const row: EventRecord = {
      shop_id,
      id,
      type,
      seq: this.#head.event_seq++,
      ticket_id,
      created_at: recorded_at,
      body: eventBody(id, type, recorded_at, shop_id, data)
    }
    this.add({ _tag: "EventRaised", row })
    if (this.#ticketAwaitingHistory?.id === ticket_id && type !== "ping") this.#addToHistory(type, data)
    if (this.#webhook !== null) this.add({ _tag: "DeliveryPut", row: firstDelivery(row, this.#webhook, now) })
    return row
  }

  /**
   * Adds an event to the history of the last saved ticket. Changing the row in place is safe, because this decision
   * made it.
   */
  #addToHistory(type: Exclude<EventType, "ping">, data: object): void {
    const ticket = this.#ticketAwaitingHistory!
    const { author = serviceAuthor, recorded_at } = this.#moment
    const { changed } = data as Partial<EventData["ticket.updated"]>
    const change = { at: recorded_at, type, ...(changed && { changed }), ...author }
    ticket.history = withChange(ticket.history, change)
    this.#ticketAwaitingHistory = undefined
  }

  /** Notifies a client: saves the notification in their inbox, where it waits for the embedder's notifier (Specification, States). */
  notifyClient(notification: Omit<NotificationRecord, keyof NotificationFields>): this {
    const row = { ...notification, ...this.#notificationFields }
    return this.add({ _tag: "NotificationAppended", row }).#queueNotification(row, "client")
  }

  /** Notifies the shop's owner: saves the notice, which waits for the embedder's notifier (Specification, Webhooks). */
  notifyOwner(notice: Omit<NoticeRecord, keyof NotificationFields>): this {
    const row = { ...notice, ...this.#notificationFields }
    return this.add({ _tag: "NoticeAppended", row }).#queueNotification(row, "owner")
  }

  get #notificationFields(): NotificationFields {
    return { id: this.newId(), shop_id: this.#shop.id, created_at: this.#moment.recorded_at }
  }

  #queueNotification({ shop_id, id }: NotificationFields, receiver: QueuedNotification["receiver"]): this {
    return this.add({
      _tag: "QueuedNotificationPut",
      row: { shop_id, id, receiver, attempts_made: 0, due_at: this.#moment.now }
    })
  }

  /** Makes the decision. It also saves the shop's counters, with this moment as the time of its last command. */
  toDecision<A>(result: A): Either.Either<Decision<A>, never> {
    this.#head.last_recorded_at = this.#moment.recorded_at
    this.#head.id_counter = this.#id_counter
    this.add({ _tag: "HeadPut", row: this.#head })
    return this.toDecisionWithoutHead(result)
  }

  /** Makes the decision without the shop's counters, for a change that no later command depends on. */
  toDecisionWithoutHead<A>(result: A): Either.Either<Decision<A>, never> {
    return Either.right({ result, changes: this.#changes, limitStatuses: this.#limitStatuses })
  }
}
