import { Either } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { Client } from "../domain/Client.js"
import { firstDelivery } from "../domain/Delivery.js"
import { type EventData, type EventRecord, eventBody } from "../domain/Event.js"
import type { EventType } from "../domain/EventType.js"
import type { EventId, ShopId } from "../domain/Identifier.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import { applyEntry, type CardRecord, type LedgerEntry } from "../domain/LoyaltyCard.js"
import {
  grantIdentifier,
  IDENTIFIERS_PER_MS,
  identifier,
  LAST_IDENTIFIER,
  type Moment,
  type ShopMoment
} from "../domain/Moment.js"
import type { MessageRecord, NotificationRecord } from "../domain/Notification.js"
import { identifiersAhead, type ShopHead, type ShopRecord } from "../domain/Shop.js"
import { type Ticket, type TicketRecord, ticketView } from "../domain/Ticket.js"
import { type ChangeAuthor, theService, withChange } from "../domain/TicketChange.js"
import type { NoticeRecord, Webhook } from "../domain/Webhook.js"
import type { Load, LoadRequest } from "./Load.js"
import { apply, type Change, type ShopState } from "./ShopState.js"

/** A decision: its result, all changes that make it true, and the statuses of the limits that it used. */
export interface Decision<out A> {
  readonly answer: A
  readonly changes: ReadonlyArray<Change>
  readonly usages: ReadonlyArray<LimitStatus>
}

/** The data that every decision gets besides its needs. */
export interface HeldShop {
  /** The settings. */
  readonly shop: ShopRecord
  /** The counters. */
  readonly head: ShopHead
  /** The webhook; null if none is set. */
  readonly webhook: Webhook | null
}

/** A write to one shop: the data to load, and the decision over them. Stores run commands; nothing else writes a shop's data. */
export interface Command<out A, out E = never> {
  readonly shop_id: ShopId
  readonly asks: ReadonlyArray<LoadRequest>
  readonly run: (state: ShopState, moment: ShopMoment) => Either.Either<Decision<A>, E>
}

/** A command's result, with the statuses of the limits that it used. */
export interface Outcome<out A> {
  readonly answer: A
  readonly usages: ReadonlyArray<LimitStatus>
}

type Loaded<N> = { readonly [K in keyof N]: N[K] extends Load<infer L, unknown> ? L : never } & HeldShop
type Missing<N> = { [K in keyof N]: N[K] extends Load<unknown, infer E> ? E : never }[keyof N]
type Needs = Readonly<Record<string, Load<unknown, unknown>>>
type Answer<R> = R extends Either.Right<infer _, infer D> ? (D extends Decision<infer A> ? A : never) : never
type Refused<R> = R extends Either.Left<infer E, infer _> ? E : never

/**
 * Makes a command from its needs and a pure `decide`, which gets the rows that the needs name and a change set for the changes. If a row is
 * missing, the command is refused and `decide` is not called.
 */
export const make = <const N extends Needs, R extends Either.Either<Decision<unknown>, unknown>>(
  shop_id: ShopId,
  needs: N,
  decide: (loaded: Loaded<N>, changes: ChangeSet, moment: ShopMoment) => R
): Command<Answer<R>, Refused<R> | Missing<N>> => {
  const named = Object.entries(needs)
  return {
    shop_id,
    asks: named.flatMap(([, need]) => need.asks),
    run: (state, moment) => {
      const loaded: Record<string, unknown> & HeldShop = { shop: state.shop, head: state.head, webhook: state.webhook }
      for (const [name, need] of named) {
        const row = need.read(state)
        if (Either.isLeft(row)) return Either.left(row.left as Missing<N>)
        loaded[name] = row.right
      }
      const changes = new ChangeSet(loaded, moment)
      return decide(loaded as Loaded<N>, changes, moment) as Either.Either<Decision<Answer<R>>, Refused<R>>
    }
  }
}

/**
 * Decides a command on its shop's data without changing them. Its records never have an earlier instant than the shop's latest command, so
 * the order by time is the order of commits (Specification, Lists and sync). Scheduled times follow the clock.
 */
export const decide = <A, E>(command: Command<A, E>, state: ShopState, moment: Moment): Either.Either<Decision<A>, E> =>
  // A field that the spread object lacks is before it: behind it, V8 takes half a microsecond more to add it.
  command.run(state, { recorded_at: Math.max(moment.now, state.head.last_instant), ...moment })

/** Decides a command and applies its changes to the state. A refusal changes nothing. */
export const execute = <A, E>(
  command: Command<A, E>,
  state: ShopState,
  moment: Moment
): Either.Either<Decision<A>, E> => {
  const decision = decide(command, state, moment)
  if (Either.isRight(decision)) for (const change of decision.right.changes) apply(state, change)
  return decision
}

/** The command as its author's, for the histories of the tickets that it changes. */
export const by = <A, E>(author: ChangeAuthor, command: Command<A, E>): Command<A, E> => ({
  ...command,
  run: (state, { now, entropy, recorded_at, tracking_base_url = null }) =>
    command.run(state, { now, entropy, recorded_at, tracking_base_url, author })
})

/** The fields of an audit entry that depend on the act. */
export type Audited = Pick<AuditEntry, "act" | "details">

/**
 * The command with its entry in the audit log, in the same commit. There is no entry if `entryOf` returns null or the command is refused.
 */
export const audited = <A, E>(
  command: Command<A, E>,
  actor: string,
  entryOf: (answer: A) => Audited | null
): Command<A, E> => ({
  ...command,
  run: (state, moment) =>
    Either.map(command.run(state, moment), (decision) => {
      const entry = entryOf(decision.answer)
      if (entry === null) return decision
      const { shop_id } = command
      const id = identifier<string>(moment, LAST_IDENTIFIER)
      const row: AuditEntry = { ...entry, shop_id, id, created_at: moment.now, actor }
      return { ...decision, changes: [...decision.changes, { _tag: "AuditAppended", row }] }
    })
})

type Marked = Pick<NotificationRecord & NoticeRecord, "id" | "shop_id" | "created_at">
type Moving<Row> = { -readonly [Name in keyof Row]: Row[Name] }

/**
 * Collects the changes of one decision. It exists only during the decision, so the decision stays pure. It continues the shop's two orders,
 * of changes and of events, and assigns the identifiers of the moment.
 */
export class ChangeSet {
  readonly #changes: Array<Change> = []
  readonly #usages: Array<LimitStatus> = []
  readonly #moment: ShopMoment
  readonly #shop: ShopRecord
  readonly #webhook: Webhook | null
  readonly #head: Moving<ShopHead>
  /** See {@link ShopHead.ids_made}. */
  #ids_made: number
  #id_moment: Moment | undefined
  /** The ticket that was changed last, until its first event is raised. */
  #changed: Moving<TicketRecord> | undefined

  constructor({ shop, head, webhook }: HeldShop, moment: ShopMoment) {
    this.#moment = moment
    // The lead of the identifiers over their instants never decreases, so a list by creation can find an instant among them.
    this.#ids_made =
      moment.recorded_at === head.last_instant ? head.ids_made : identifiersAhead(head) * IDENTIFIERS_PER_MS
    this.#shop = shop
    this.#webhook = webhook
    this.#head = { ...head }
  }

  /**
   * The shop's next identifier. It sorts after all earlier ones of the shop, on whichever node they were made (Specification, Lists and
   * sync).
   */
  id<Id extends string>(): Id {
    const n = this.#ids_made++ % IDENTIFIERS_PER_MS
    return identifier<Id>(this.#idMoment(n), n)
  }

  /** The identifier of something that grants access, which cannot be derived from the others. A decision has at most one. */
  grantId<Id extends string>(): Id {
    const n = this.#ids_made++ % IDENTIFIERS_PER_MS
    return grantIdentifier<Id>(this.#idMoment(n), n)
  }

  /** The millisecond of the identifier that was just counted: the recorded one, or a later one if that is full. */
  #idMoment(n: number): Moment {
    const { recorded_at, entropy } = this.#moment
    if (this.#id_moment === undefined || n === 0)
      this.#id_moment = { now: recorded_at + Math.floor((this.#ids_made - 1) / IDENTIFIERS_PER_MS), entropy }
    return this.#id_moment
  }

  /** Adds a change. */
  add(change: Change): this {
    this.#changes.push(change)
    return this
  }

  /** Changes the fields of the head that this class does not maintain itself. */
  head(moved: Partial<Pick<ShopHead, "next_number" | "tickets_per_hour" | "tickets_per_day">>): this {
    Object.assign(this.#head, moved)
    return this
  }

  /** Adds the status of a limit, for the response's headers. */
  touched(...usages: ReadonlyArray<LimitStatus>): this {
    this.#usages.push(...usages)
    return this
  }

  /** The fields of a ticket that its next change sets. */
  get change(): Pick<TicketRecord, "updated_at" | "change_seq"> {
    return { updated_at: this.#moment.recorded_at, change_seq: this.#head.change_seq }
  }

  /**
   * Saves a ticket as the shop's next change, and returns the ticket as its shop sees it afterwards. The next event of the ticket is the
   * change in its history.
   */
  ticket(record: Omit<TicketRecord, "updated_at" | "change_seq">, client: Client | null): Ticket {
    return this.changed({ ...record, ...this.change }, client)
  }

  /** Like `ticket`, for a ticket that has its {@link change} already. */
  changed(row: TicketRecord, client: Client | null): Ticket {
    this.#head.change_seq++
    this.#changed = row
    this.add({ _tag: "TicketPut", row })
    return ticketView(row, this.#shop, client, this.#moment.tracking_base_url ?? null)
  }

  /** Adds an entry to the ledger, and the card that results from it (Specification, Clients and loyalty). */
  ledger(card: CardRecord, line: Pick<LedgerEntry, "kind" | "stamps" | "ticket_id" | "caller_id">): CardRecord {
    const { shop_id, client_id } = card
    const row: LedgerEntry = { ...line, shop_id, client_id, id: this.id(), created_at: this.#moment.recorded_at }
    const next = applyEntry(card, row)
    this.add({ _tag: "LedgerAppended", row }).add({ _tag: "CardPut", row: next })
    return next
  }

  /**
   * Raises an event, whose text is frozen here. If a webhook is set, the event is to be delivered, even if the webhook is off
   * (Specification, Webhooks).
   */
  raise<T extends EventType>(type: T, data: EventData[T], ticket_id: EventRecord["ticket_id"]): EventRecord {
    const id = this.id<EventId>()
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
    if (this.#changed?.id === ticket_id && type !== "ping") this.#note(type, data)
    if (this.#webhook !== null) this.add({ _tag: "DeliveryPut", row: firstDelivery(row, this.#webhook, now) })
    return row
  }

  /** Adds a change to the history of the ticket, whose row this decision made. */
  #note(type: Exclude<EventType, "ping">, data: object): void {
    const ticket = this.#changed!
    const { author = theService, recorded_at } = this.#moment
    const { changed } = data as Partial<EventData["ticket.updated"]>
    const change = { at: recorded_at, type, ...(changed && { changed }), ...author }
    ticket.history = withChange(ticket.history, change)
    this.#changed = undefined
  }

  /** Notifies a client: saves the notification in their inbox, where it waits for the embedder's notifier (Specification, States). */
  notifyClient(notification: Omit<NotificationRecord, keyof Marked>): this {
    const row = { ...notification, ...this.#marked }
    return this.add({ _tag: "NotificationAppended", row }).#await(row, "client")
  }

  /** Notifies the shop's owner: saves the notice, which waits for the embedder's notifier (Specification, Webhooks). */
  notifyOwner(notice: Omit<NoticeRecord, keyof Marked>): this {
    const row = { ...notice, ...this.#marked }
    return this.add({ _tag: "NoticeAppended", row }).#await(row, "owner")
  }

  get #marked(): Marked {
    return { id: this.id(), shop_id: this.#shop.id, created_at: this.#moment.recorded_at }
  }

  #await({ shop_id, id }: Marked, receiver: MessageRecord["receiver"]): this {
    return this.add({ _tag: "MessagePut", row: { shop_id, id, receiver, attempts_made: 0, due_at: this.#moment.now } })
  }

  /** The decision, which also moves the shop's recorded time to this moment. */
  decided<A>(answer: A): Either.Either<Decision<A>, never> {
    this.#head.last_instant = this.#moment.recorded_at
    this.#head.ids_made = this.#ids_made
    this.add({ _tag: "HeadPut", row: this.#head })
    return this.decidedQuietly(answer)
  }

  /** The decision, without moving the shop's recorded time, for a change that no later command depends on. */
  decidedQuietly<A>(answer: A): Either.Either<Decision<A>, never> {
    return Either.right({ answer, changes: this.#changes, usages: this.#usages })
  }
}

/** A decision that changes nothing. */
export const unchanged = <A>(answer: A): Either.Either<Decision<A>, never> =>
  Either.right({ answer, changes: [], usages: [] })
