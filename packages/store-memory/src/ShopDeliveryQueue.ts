import { type EventId, type Instant, Limits } from "@workshop/core"
import { compareClaims, type DeliveryRecord, isWebhookOn, presentSchedule, type Webhook } from "@workshop/core/store"
import { compareDue, type DueEntry, DueQueue } from "./DueQueue.js"

/**
 * Live deliveries, or deliveries of a replay. Each kind has its own queues, so that a replay does not delay live
 * deliveries.
 */
export type DeliveryKind = "live" | "replayed"

/** The kind of a delivery. */
export const kindOf = ({ is_replay }: DeliveryRecord): DeliveryKind => (is_replay ? "replayed" : "live")

/** The next delivery of a ticket and kind, as an entry in the shop's queue. */
export interface QueueEntry extends DueEntry {
  readonly event_id: EventId
  readonly ticketQueue: TicketDeliveryQueue
}

/** A delivery that waits in its ticket's queue. */
interface WaitingEntry extends DueEntry {
  readonly event_id: EventId
}

/**
 * Looks up the row of a delivery, the instant at which it is now due, and whether it was tried since it was last
 * scheduled; undefined if the delivery has ended.
 */
export type DeliveryLookUp = (
  event_id: EventId
) => { readonly row: DeliveryRecord; readonly due_at: number; readonly isTried: boolean } | undefined

/**
 * The waiting deliveries of one ticket and kind: untried deliveries in the order of their events, and retries by the
 * instant at which they are due.
 */
class KindQueue {
  /** The entry in the shop's queue; null if there is none. */
  entry: QueueEntry | null = null
  readonly #kind: DeliveryKind
  readonly #lookUp: DeliveryLookUp
  /** The untried deliveries from the index `#from` on, ordered by `seq`. Outdated entries are skipped. */
  readonly #untried: Array<WaitingEntry> = []
  #from = 0
  readonly #retries: DueQueue<WaitingEntry>

  constructor(kind: DeliveryKind, lookUp: DeliveryLookUp) {
    this.#kind = kind
    this.#lookUp = lookUp
    this.#retries = new DueQueue((waiting) => this.#isCurrent(waiting, true))
  }

  /** Adds a delivery, or replaces its earlier state. */
  note(waiting: WaitingEntry, isTried: boolean): void {
    if (isTried) {
      this.#retries.push(waiting)
      return
    }
    const untried = this.#untried
    let at = untried.length
    while (at > this.#from && untried[at - 1]!.seq > waiting.seq) at--
    if (at > this.#from && untried[at - 1]!.event_id === waiting.event_id) untried[at - 1] = waiting
    else if (at === untried.length) untried.push(waiting)
    else untried.splice(at, 0, waiting)
  }

  /** The next delivery: the first untried one, or a retry that is due before it. */
  next(): WaitingEntry | undefined {
    const untried = this.#firstUntried()
    const retry = this.#retries.first()
    if (untried === undefined || retry === undefined) return untried ?? retry
    return compareDue(retry, untried) < 0 ? retry : untried
  }

  #firstUntried(): WaitingEntry | undefined {
    const untried = this.#untried
    while (this.#from < untried.length && !this.#isCurrent(untried[this.#from]!, false)) this.#from++
    if (2 * this.#from >= untried.length) {
      untried.splice(0, this.#from)
      this.#from = 0
    }
    return untried[this.#from]
  }

  #isCurrent({ event_id, due_at }: WaitingEntry, isTried: boolean): boolean {
    const entry = this.#lookUp(event_id)
    return (
      entry !== undefined && kindOf(entry.row) === this.#kind && entry.isTried === isTried && entry.due_at === due_at
    )
  }
}

/**
 * The deliveries of one ticket, of which at most one is in flight. While one is in flight, the ticket has no entry in
 * the shop's queues. Otherwise it has an entry for the next delivery of each kind.
 */
export class TicketDeliveryQueue {
  readonly ticket: string
  /** The delivery in flight; null if there is none. */
  inFlight: EventId | null = null
  readonly live: KindQueue
  readonly replayed: KindQueue

  constructor(ticket: string, lookUp: DeliveryLookUp) {
    this.ticket = ticket
    this.live = new KindQueue("live", lookUp)
    this.replayed = new KindQueue("replayed", lookUp)
  }
}

const kinds = ["live", "replayed"] as const satisfies ReadonlyArray<DeliveryKind>

/** The key of a delivery's queue. Each delivery without a ticket has its own queue. */
const ticketOf = ({ ticket_id, event_id }: DeliveryRecord): string => ticket_id ?? event_id

/** Makes the queue of one kind. An entry is stale once its ticket's queue has another entry. */
const queueOf = (kind: DeliveryKind) => new DueQueue<QueueEntry>((entry) => entry.ticketQueue[kind].entry === entry)

/**
 * The queue of one shop. Live deliveries precede replayed ones, and the deliveries of a ticket are sent one at a time,
 * in the order of its events. The queue contains only the next delivery of each ticket, so neither a claim nor a
 * finished delivery scans waiting deliveries.
 */
export class ShopDeliveryQueue {
  readonly #rows: Map<EventId, DeliveryRecord>
  readonly #inFlight = new Map<EventId, bigint>()
  readonly #ticketQueues = new Map<string, TicketDeliveryQueue>()
  #queues = { live: queueOf("live"), replayed: queueOf("replayed") }
  #webhook: Webhook | null = null

  constructor(rows: Map<EventId, DeliveryRecord>) {
    this.#rows = rows
  }

  /** Whether an event's delivery is in flight. */
  isInFlight(event_id: EventId): boolean {
    return this.#inFlight.has(event_id)
  }

  /** The number of deliveries in flight. */
  get inFlight(): number {
    return this.#inFlight.size
  }

  /**
   * Records the webhook; null if it was removed. If it was turned on again, the earlier deliveries become due again.
   */
  webhook(webhook: Webhook | null): void {
    const isReleased = this.#webhook !== null && webhook !== null && webhook.generation > this.#webhook.generation
    this.#webhook = webhook
    if (!isReleased) return
    this.#queues = { live: queueOf("live"), replayed: queueOf("replayed") }
    this.#ticketQueues.clear()
    for (const row of this.#rows.values()) {
      const ticketQueue = this.#note(row)
      if (this.#inFlight.has(row.event_id)) ticketQueue.inFlight = row.event_id
    }
    for (const ticketQueue of this.#ticketQueues.values()) this.#updateEntries(ticketQueue)
  }

  /** Records that a row was written, which ends its claim. */
  put(row: DeliveryRecord): void {
    const ticketQueue = this.#note(row)
    this.#release(row, ticketQueue)
    this.#updateEntries(ticketQueue)
  }

  /** Records that a row was removed. */
  remove(row: DeliveryRecord): void {
    const ticketQueue = this.#ticketQueues.get(ticketOf(row))
    if (ticketQueue === undefined) return
    this.#release(row, ticketQueue)
    this.#updateEntries(ticketQueue)
  }

  /** Claims the next due delivery; undefined if none is due, or if the maximum number of deliveries is in flight. */
  claim(now: Instant, lease_until: bigint): DeliveryRecord | undefined {
    const entry = this.#isOpen ? this.#first(now) : undefined
    if (entry === undefined) return undefined
    const { event_id, ticketQueue } = entry
    const row = this.#rows.get(event_id)!
    const claimed = { ...row, token: row.token + 1 }
    this.#rows.set(event_id, claimed)
    this.#inFlight.set(event_id, lease_until)
    ticketQueue.inFlight = event_id
    this.#updateEntries(ticketQueue)
    return claimed
  }

  /** The number of deliveries that could be claimed now, one after another. */
  claimable(now: Instant): number {
    if (!this.#isOpen) return 0
    const room = Limits.deliveries_in_flight_per_shop - this.#inFlight.size
    let due = 0
    for (const ticketQueue of this.#ticketQueues.values())
      if (due < room && kinds.some((kind) => (ticketQueue[kind].entry?.due_at ?? Number.POSITIVE_INFINITY) <= now))
        due++
    return due
  }

  /** Ends expired leases, so that their deliveries can be claimed again. Returns the number of leases. */
  reclaim(now: bigint): number {
    const expiredLeases = [...this.#inFlight].filter(([, until]) => until <= now)
    for (const [event_id] of expiredLeases) this.put(this.#rows.get(event_id)!)
    return expiredLeases.length
  }

  /**
   * The instant at which the next delivery can be claimed; undefined if none can until a delivery or the webhook
   * changes.
   */
  next(): Instant | undefined {
    if (!this.#isOpen) return undefined
    const live = this.#queues.live.first()?.due_at
    const replayed = this.#queues.replayed.first()?.due_at
    return live === undefined || replayed === undefined ? (live ?? replayed) : Math.min(live, replayed)
  }

  /** Whether the webhook is set and on, and another delivery may be in flight. */
  get #isOpen(): boolean {
    return (
      this.#webhook !== null && isWebhookOn(this.#webhook) && this.#inFlight.size < Limits.deliveries_in_flight_per_shop
    )
  }

  /**
   * The entry that is claimed next: of the first due entries of both kinds, the entry that `compareClaims` puts first.
   */
  #first(now: Instant): QueueEntry | undefined {
    const due = kinds.flatMap((kind) => {
      const first = this.#queues[kind].first()
      return first !== undefined && first.due_at <= now
        ? [{ first, rank: { is_replay: kind === "replayed", ...first } }]
        : []
    })
    return due.sort((a, b) => compareClaims(a.rank, b.rank))[0]?.first
  }

  readonly #lookUp: DeliveryLookUp = (event_id) => {
    const row = this.#rows.get(event_id)
    if (row === undefined) return undefined
    const { due_at, attempts_since_reset } = this.#webhook === null ? row : presentSchedule(row, this.#webhook)
    return { row, due_at, isTried: attempts_since_reset > 0 }
  }

  #note(row: DeliveryRecord): TicketDeliveryQueue {
    const ticket = ticketOf(row)
    const ticketQueue = this.#ticketQueues.get(ticket) ?? new TicketDeliveryQueue(ticket, this.#lookUp)
    this.#ticketQueues.set(ticket, ticketQueue)
    const { due_at, isTried } = this.#lookUp(row.event_id)!
    ticketQueue[kindOf(row)].note({ due_at, seq: row.seq, event_id: row.event_id }, isTried)
    return ticketQueue
  }

  #release({ event_id }: DeliveryRecord, ticketQueue: TicketDeliveryQueue): void {
    this.#inFlight.delete(event_id)
    if (ticketQueue.inFlight === event_id) ticketQueue.inFlight = null
  }

  /** Updates a ticket's entries in the shop's queues. The ticket has none while one of its deliveries is in flight. */
  #updateEntries(ticketQueue: TicketDeliveryQueue): void {
    for (const kind of kinds) {
      const kindQueue = ticketQueue[kind]
      const next = ticketQueue.inFlight === null ? kindQueue.next() : undefined
      const { entry } = kindQueue
      if (next?.event_id === entry?.event_id && next?.due_at === entry?.due_at) continue
      kindQueue.entry = next === undefined ? null : { ticketQueue, ...next }
      if (kindQueue.entry !== null) this.#queues[kind].push(kindQueue.entry)
    }
    const isEmpty = ticketQueue.inFlight === null && kinds.every((kind) => ticketQueue[kind].entry === null)
    if (isEmpty) this.#ticketQueues.delete(ticketQueue.ticket)
  }
}
