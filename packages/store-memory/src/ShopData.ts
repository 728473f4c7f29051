import {
  type ClientAccount,
  type ClientId,
  type EventId,
  type EventRecord,
  type Instant,
  Limits,
  type NoticeRecord,
  type Phone,
  type ShopRecord,
  type TicketId
} from "@workshop/core"
import {
  type AttemptRecord,
  acknowledges,
  apply,
  type Change,
  closure,
  type DeliveryState,
  deliveryState,
  type EventPart,
  type EventRange,
  emptyShopState,
  type LedgerEntry,
  type LoggedDelivery,
  matchesReplayFilter,
  newShopHead,
  presentSchedule,
  type ReadMap,
  type ReplayFilter,
  type ReplayRecord,
  ServiceLimits,
  type ShopState,
  type TicketRecord
} from "@workshop/core/store"
import { ShopDeliveryQueue } from "./ShopDeliveryQueue.js"

/** The events of a shop and their deliveries. */
interface DeliveryData {
  readonly state: Pick<ShopState, "deliveries" | "webhook">
  readonly events: ReadonlyArray<EventRecord>
  readonly attempts: ReadonlyMap<EventId, ReadonlyArray<AttemptRecord>>
  readonly queue: Pick<ShopDeliveryQueue, "isInFlight">
}

const deliveryStateOf = ({ state, attempts }: DeliveryData, { id }: EventRecord): DeliveryState | undefined => {
  const row = state.deliveries.get(id)
  const lastAttempt = attempts.get(id)?.at(-1)
  if (state.webhook === null || (row === undefined && lastAttempt === undefined)) return undefined
  return deliveryState(row, state.webhook, lastAttempt !== undefined && acknowledges(lastAttempt))
}

/** The events that match a filter, in order. */
export function* matchingEvents(data: DeliveryData, filter: ReplayFilter): Generator<EventRecord> {
  for (const event of data.events) if (matchesReplayFilter(filter, event, deliveryStateOf(data, event))) yield event
}

/**
 * The number of attempts of an event. It is the highest attempt number, because two attempts may have the same number,
 * and the log may lack the first attempts.
 */
const attemptsMade = ({ state, attempts }: DeliveryData, { id }: EventRecord): number =>
  Math.max(state.deliveries.get(id)?.attempts_made ?? 0, ...(attempts.get(id) ?? []).map(({ n }) => n))

/**
 * The next events of a replay. They are accessed by index, because the events of a shop are numbered from 1 without
 * gaps.
 */
export const replayable = (
  data: DeliveryData,
  { filter, after_seq, until_seq }: ReplayRecord,
  max: number
): EventRange => {
  const last_seq = Math.min(after_seq + max, until_seq - 1)
  const matching = data.events
    .slice(after_seq, last_seq)
    .filter((event) => matchesReplayFilter(filter, event, deliveryStateOf(data, event)))
  return {
    events: matching.map((event) => ({
      event,
      delivery: data.state.deliveries.get(event.id),
      is_in_flight: data.queue.isInFlight(event.id),
      attempts_made: attemptsMade(data, event)
    })),
    last_seq
  }
}

const statusOf = (data: DeliveryData, event: EventRecord): LoggedDelivery | undefined => {
  const { id: event_id, seq, type } = event
  const state = deliveryStateOf(data, event)
  if (state === undefined) return undefined
  const row = data.state.deliveries.get(event_id)
  const next_attempt_at =
    state === "pending" && row !== undefined ? presentSchedule(row, data.state.webhook!).due_at : null
  const attempts = (data.attempts.get(event_id) ?? []).slice(-ServiceLimits.attempts_read_max)
  return { event_id, seq, type, state, next_attempt_at, attempts }
}

/**
 * The number of events whose `seq` is below `before`. It needs no search, because the events of a shop are numbered
 * from 1 without gaps.
 */
const countBefore = (events: ReadonlyArray<EventRecord>, before: number): number =>
  Math.max(0, Math.min(events.length, before - 1))

/** A page of events: the latest ones whose `seq` is below `before`. */
export const partOf = (
  events: ReadonlyArray<EventRecord>,
  { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max }: EventPart = {}
): ReadonlyArray<EventRecord> => {
  const end = countBefore(events, before)
  return events.slice(Math.max(0, end - limit), end)
}

/** The deliveries of a page of the latest events. */
export const deliveryLogOf = (
  data: DeliveryData,
  { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max }: EventPart = {}
): ReadonlyArray<LoggedDelivery> => {
  const deliveries: Array<LoggedDelivery> = []
  for (let at = countBefore(data.events, before) - 1; at >= 0 && deliveries.length < limit; at--) {
    const delivery = statusOf(data, data.events[at]!)
    if (delivery !== undefined) deliveries.push(delivery)
  }
  return deliveries.reverse()
}

/**
 * The instants at which the tickets of a shop close automatically, earliest first. Every closure is due after the same
 * period, so a rescheduled ticket moves to the end, and the insertion order of a Map is sufficient. It is sorted only
 * after a clock was set back.
 */
export class ClosureOrder {
  #due = new Map<TicketId, Instant>()
  #latest: Instant = 0
  #isSorted = true

  /** Records the instant at which a ticket will close, if any. */
  note(ticket: TicketRecord): void {
    const due_at = closure(ticket)?.due_at
    const previousDue = this.#due.get(ticket.id)
    if (due_at === previousDue) return
    if (previousDue !== undefined) this.#due.delete(ticket.id)
    if (due_at === undefined) return
    this.#due.set(ticket.id, due_at)
    if (due_at < this.#latest) this.#isSorted = false
    this.#latest = Math.max(this.#latest, due_at)
  }

  /** The tickets whose closure is due by `until`, earliest first. */
  *due(until: Instant): Generator<{ readonly id: TicketId; readonly due_at: Instant }> {
    if (!this.#isSorted) {
      this.#due = new Map([...this.#due].sort(([, a], [, b]) => a - b))
      this.#isSorted = true
    }
    for (const [id, due_at] of this.#due) {
      if (due_at > until) return
      yield { id, due_at }
    }
  }
}

type ChangedTicket = Pick<TicketRecord, "id" | "updated_at" | "change_seq">

/**
 * The tickets of a shop in the order of their last change. If a ticket changes again, its old entry becomes stale. All
 * stale entries are removed when most entries are stale, so the average cost of a change is constant.
 */
export class ChangeOrder {
  // An entry does not contain the ticket, because a stale entry would retain texts that an erasure removed.
  #entries: Array<ChangedTicket> = []
  #isOutOfOrder = false
  readonly #tickets: ReadonlyMap<TicketId, TicketRecord>

  constructor(tickets: ReadonlyMap<TicketId, TicketRecord>) {
    this.#tickets = tickets
  }

  /** The ticket of an entry; undefined if the entry is stale. */
  #ticketAt({ id, change_seq }: ChangedTicket): TicketRecord | undefined {
    const ticket = this.#tickets.get(id)
    return ticket?.change_seq === change_seq ? ticket : undefined
  }

  /** Records that a ticket changed. */
  note({ id, updated_at, change_seq }: TicketRecord): void {
    // Only a repair of the shop's clock sets the time back, after which stale entries break the order that the binary
    // search needs.
    if (updated_at < (this.last_change_at ?? 0)) this.#isOutOfOrder = true
    this.#entries.push({ id, updated_at, change_seq })
    if (!this.#isOutOfOrder && this.#entries.length <= 2 * this.#tickets.size + 16) return
    this.#entries = this.#entries.filter((entry) => this.#ticketAt(entry) !== undefined)
    this.#isOutOfOrder = this.#entries.some((entry, i) => entry.updated_at < (this.#entries[i - 1]?.updated_at ?? 0))
  }

  /** The instant of the last change; null if there are no tickets. */
  get last_change_at(): Instant | null {
    return this.#entries.at(-1)?.updated_at ?? null
  }

  /** The tickets that changed at or after `since` and after the change `after`, in the order of their changes. */
  *from(since: Instant, after: number): Generator<TicketRecord> {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const entry = this.#entries[middle]!
      if (entry.updated_at >= since && entry.change_seq > after) high = middle
      else low = middle + 1
    }
    for (let i = low; i < this.#entries.length; i++) {
      const ticket = this.#ticketAt(this.#entries[i]!)
      if (ticket !== undefined) yield ticket
    }
  }
}

/** All data of one shop: the state for commands, the rows that no command loads, and the indexes for reads. */
export class ShopData {
  readonly state: ShopState
  readonly events: Array<EventRecord> = []
  readonly ledger: Array<LedgerEntry> = []
  readonly notices: Array<NoticeRecord> = []
  readonly queue: ShopDeliveryQueue
  /** The ids of the tickets, oldest first, which is also the order of `id`. */
  readonly byCreation: Array<TicketId> = []
  readonly byNumber = new Map<number, Array<TicketId>>()
  readonly byClient = new Map<ClientId, Set<TicketId>>()
  readonly byChange: ChangeOrder
  readonly byClosure = new ClosureOrder()
  readonly byTrackingCode = new Map<string, TicketId>()

  constructor(shop: ShopRecord, accounts: ReadMap<ClientId, ClientAccount>, holders: ReadMap<Phone, ClientAccount>) {
    this.state = emptyShopState({
      shop,
      head: newShopHead(shop.id),
      webhook: null,
      events: {
        get: (id) => {
          const event = this.events.find((event) => event.id === id)
          return event && { event, attempts: this.attempts.get(id) ?? [] }
        },
        rewrite: (event) => {
          this.events[event.seq - 1] = event
        }
      },
      replayable: (replay, max) => replayable(this, replay, max),
      accounts,
      holders
    })
    this.byChange = new ChangeOrder(this.state.tickets)
    this.queue = new ShopDeliveryQueue(this.state.deliveries)
  }

  /** The log of attempts. */
  get attempts(): ReadonlyMap<EventId, ReadonlyArray<AttemptRecord>> {
    return this.state.attempts
  }

  /** Whether a new ticket's tracking code is taken. This is the only rule that a command cannot check itself. */
  rejects(change: Change): boolean {
    return (
      change._tag === "TicketPut" &&
      !this.state.tickets.has(change.row.id) &&
      this.byTrackingCode.has(change.row.tracking_code)
    )
  }

  /** Applies a change, and updates the indexes. */
  applyAndIndex(change: Change): void {
    const previousTicket = change._tag === "TicketPut" ? this.state.tickets.get(change.row.id) : undefined
    const removed = change._tag === "DeliveryRemoved" ? this.state.deliveries.get(change.row.event_id) : undefined
    apply(this.state, change)
    switch (change._tag) {
      case "TicketPut":
        this.#indexTicket(change.row, previousTicket)
        return
      case "WebhookPut":
        this.queue.webhook(change.row)
        return
      case "WebhookRemoved":
        this.queue.webhook(null)
        return
      case "DeliveryPut":
        this.queue.put(change.row)
        return
      case "DeliveryRemoved":
        if (removed !== undefined) this.queue.remove(removed)
        return
      case "IdempotencyRecordPut":
        this.#forget(change.row.expires_at - Limits.idempotency_memory_ms)
        return
      case "EventRaised":
        this.events.push(change.row)
        return
      case "LedgerAppended":
        this.ledger.push(change.row)
        return
      case "NoticeAppended":
        this.notices.push(change.row)
        return
      case "AttemptRewritten":
        this.#logAgain(change.row)
        return
    }
  }

  /**
   * Removes the idempotency records that expired by `now`. They are first in the Map, except records that were saved
   * before a clock was set back.
   */
  #forget(now: Instant): void {
    for (const [place, { expires_at }] of this.state.idempotency_records) {
      if (expires_at > now) return
      this.state.idempotency_records.delete(place)
    }
  }

  #logAgain({ event_id, n, head }: AttemptRecord): void {
    const attempts = this.attempts.get(event_id) ?? []
    this.state.attempts.set(
      event_id,
      attempts.map((attempt) => (attempt.n === n ? { ...attempt, head } : attempt))
    )
  }

  #indexTicket(ticket: TicketRecord, previousTicket: TicketRecord | undefined): void {
    this.byChange.note(ticket)
    this.byClosure.note(ticket)
    if (ticket.client_id !== null && ticket.client_id !== previousTicket?.client_id) {
      const formerClient = previousTicket?.client_id ?? null
      if (formerClient !== null) this.byClient.get(formerClient)?.delete(ticket.id)
      const ticketsOfClient = this.byClient.get(ticket.client_id)
      if (ticketsOfClient === undefined) this.byClient.set(ticket.client_id, new Set([ticket.id]))
      else ticketsOfClient.add(ticket.id)
    }
    if (previousTicket !== undefined) return
    this.byTrackingCode.set(ticket.tracking_code, ticket.id)
    insert(this.byCreation, ticket.id)
    const ofNumber = this.byNumber.get(ticket.number)
    if (ofNumber === undefined) this.byNumber.set(ticket.number, [ticket.id])
    else insert(ofNumber, ticket.id)
  }
}

/** Inserts an id in order, usually at the end, because only tests create ids out of order. */
const insert = (list: Array<TicketId>, id: TicketId): void => {
  let at = list.length
  while (at > 0 && list[at - 1]! > id) at--
  if (at === list.length) list.push(id)
  else list.splice(at, 0, id)
}
