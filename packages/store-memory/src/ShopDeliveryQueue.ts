import { type EventId, type Instant, Limits } from "@workshop/core"
import { compareClaims, type DeliveryRecord, presentSchedule, type Webhook } from "@workshop/core/store"
import { type Due, DueQueue, earlier } from "./DueQueue.js"

/** Live deliveries, and those sent again; each kind keeps its own order, or a replay could hold back what is live. */
export type Kind = "live" | "replayed"

/** The kind of a delivery. */
export const kindOf = ({ is_replay }: DeliveryRecord): Kind => (is_replay ? "replayed" : "live")

/** The entry of a ticket in its shop's queue: its next delivery. */
export interface QueuePosition extends Due {
  readonly event_id: EventId
  readonly line: TicketDeliveryQueue
}

interface Waiting extends Due {
  readonly event_id: EventId
}

/** How a line looks up a delivery: where it is due now, and whether it was tried since it was made due again. */
export type QueueHead = (
  event_id: EventId
) => { readonly row: DeliveryRecord; readonly due_at: number; readonly isTried: boolean } | undefined

/** One kind of a ticket's deliveries: those not tried yet in the order of their events, the others when their retry is due. */
class Order {
  /** Its place in the shop's queue. */
  placed: QueuePosition | null = null
  readonly #kind: Kind
  readonly #look: QueueHead
  /** By `seq`, from `#from`; what has left is passed over. */
  readonly #untried: Array<Waiting> = []
  #from = 0
  readonly #retries: DueQueue<Waiting>

  constructor(kind: Kind, look: QueueHead) {
    this.#kind = kind
    this.#look = look
    this.#retries = new DueQueue((waiting) => this.#isCurrent(waiting, true))
  }

  note(waiting: Waiting, isTried: boolean): void {
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

  /** The next delivery: the first event that was not tried, or a retry that was due before it. */
  next(): Waiting | undefined {
    const untried = this.#firstUntried()
    const retry = this.#retries.first()
    if (untried === undefined || retry === undefined) return untried ?? retry
    return earlier(retry, untried) < 0 ? retry : untried
  }

  #firstUntried(): Waiting | undefined {
    const untried = this.#untried
    while (this.#from < untried.length && !this.#isCurrent(untried[this.#from]!, false)) this.#from++
    if (2 * this.#from >= untried.length) {
      untried.splice(0, this.#from)
      this.#from = 0
    }
    return untried[this.#from]
  }

  #isCurrent({ event_id, due_at }: Waiting, isTried: boolean): boolean {
    const found = this.#look(event_id)
    return (
      found !== undefined && kindOf(found.row) === this.#kind && found.isTried === isTried && found.due_at === due_at
    )
  }
}

/**
 * The deliveries of one ticket: at most one is in flight, and then none of the others is in the shop's queue;
 * otherwise the next one of each kind does.
 */
export class TicketDeliveryQueue {
  readonly ticket: string
  /** The deliveries in flight. */
  busy: EventId | null = null
  readonly live: Order
  readonly replayed: Order

  constructor(ticket: string, look: QueueHead) {
    this.ticket = ticket
    this.live = new Order("live", look)
    this.replayed = new Order("replayed", look)
  }
}

const kinds = ["live", "replayed"] as const satisfies ReadonlyArray<Kind>

/** Deliveries without a ticket stand in nobody's way. */
const ticketOf = ({ ticket_id, event_id }: DeliveryRecord): string => ticket_id ?? event_id

/** The queue of one kind; a place is out of date once its line stands elsewhere. */
const queueOf = (kind: Kind) => new DueQueue<QueuePosition>((place) => place.line[kind].placed === place)

/**
 * The queue of one shop: what is due, live ones before replayed ones, one of a ticket at a time and in the order of its
 * events. Only the next one of a ticket stands here, so neither a claim nor a landing ever searches what waits.
 */
export class ShopDeliveryQueue {
  readonly #rows: Map<EventId, DeliveryRecord>
  readonly #inFlight = new Map<EventId, bigint>()
  readonly #lines = new Map<string, TicketDeliveryQueue>()
  #queues = { live: queueOf("live"), replayed: queueOf("replayed") }
  #webhook: Webhook | null = null

  constructor(rows: Map<EventId, DeliveryRecord>) {
    this.#rows = rows
  }

  /** Whether an event's delivery is in flight. */
  isInFlight(event_id: EventId): boolean {
    return this.#inFlight.has(event_id)
  }

  /** How many are in flight. */
  get inFlight(): number {
    return this.#inFlight.size
  }

  /** Records the webhook, null if it was removed; turning it on again makes everything from before due again. */
  webhook(webhook: Webhook | null): void {
    const isReleased = this.#webhook !== null && webhook !== null && webhook.generation > this.#webhook.generation
    this.#webhook = webhook
    if (!isReleased) return
    this.#queues = { live: queueOf("live"), replayed: queueOf("replayed") }
    this.#lines.clear()
    for (const row of this.#rows.values()) {
      const line = this.#note(row)
      if (this.#inFlight.has(row.event_id)) line.busy = row.event_id
    }
    for (const line of this.#lines.values()) this.#place(line)
  }

  /** Records a row that was written, which ends its claim. */
  put(row: DeliveryRecord): void {
    const line = this.#note(row)
    this.#letGo(row, line)
    this.#place(line)
  }

  /** Records a row that was taken away. */
  remove(row: DeliveryRecord): void {
    const line = this.#lines.get(ticketOf(row))
    if (line === undefined) return
    this.#letGo(row, line)
    this.#place(line)
  }

  /** Claims the next delivery that is due; undefined if there is none, or four are in flight. */
  claim(now: Instant, lease_until: bigint): DeliveryRecord | undefined {
    const place = this.#isOpen ? this.#first(now) : undefined
    if (place === undefined) return undefined
    const { event_id, line } = place
    const row = this.#rows.get(event_id)!
    const claimed = { ...row, token: row.token + 1 }
    this.#rows.set(event_id, claimed)
    this.#inFlight.set(event_id, lease_until)
    line.busy = event_id
    this.#place(line)
    return claimed
  }

  /** How many deliveries could be claimed one after another. */
  claimable(now: Instant): number {
    if (!this.#isOpen) return 0
    const room = Limits.deliveries_in_flight_per_shop - this.#inFlight.size
    let due = 0
    for (const line of this.#lines.values())
      if (due < room && kinds.some((kind) => (line[kind].placed?.due_at ?? Number.POSITIVE_INFINITY) <= now)) due++
    return due
  }

  /** Puts back what was claimed until now or before. Returns how many that were. */
  reclaim(now: bigint): number {
    const ended = [...this.#inFlight].filter(([, until]) => until <= now)
    for (const [event_id] of ended) this.put(this.#rows.get(event_id)!)
    return ended.length
  }

  /** When the next delivery is due that could be claimed; undefined if there is none. */
  next(): Instant | undefined {
    if (!this.#isOpen) return undefined
    const live = this.#queues.live.first()?.due_at
    const replayed = this.#queues.replayed.first()?.due_at
    return live === undefined || replayed === undefined ? (live ?? replayed) : Math.min(live, replayed)
  }

  /** Whether the webhook is set and on, and has room for one more. */
  get #isOpen(): boolean {
    return (
      this.#webhook !== null &&
      this.#webhook.off_reason === null &&
      this.#inFlight.size < Limits.deliveries_in_flight_per_shop
    )
  }

  /** Of the first ones of both kinds that are due, the one that the order of claims puts first. */
  #first(now: Instant): QueuePosition | undefined {
    const due = kinds.flatMap((kind) => {
      const first = this.#queues[kind].first()
      return first !== undefined && first.due_at <= now
        ? [{ first, rank: { is_replay: kind === "replayed", ...first } }]
        : []
    })
    return due.sort((a, b) => compareClaims(a.rank, b.rank))[0]?.first
  }

  readonly #look: QueueHead = (event_id) => {
    const row = this.#rows.get(event_id)
    if (row === undefined) return undefined
    const { due_at, attempts_in_round } = this.#webhook === null ? row : presentSchedule(row, this.#webhook)
    return { row, due_at, isTried: attempts_in_round > 0 }
  }

  #note(row: DeliveryRecord): TicketDeliveryQueue {
    const ticket = ticketOf(row)
    const line = this.#lines.get(ticket) ?? new TicketDeliveryQueue(ticket, this.#look)
    this.#lines.set(ticket, line)
    const { due_at, isTried } = this.#look(row.event_id)!
    line[kindOf(row)].note({ due_at, seq: row.seq, event_id: row.event_id }, isTried)
    return line
  }

  #letGo({ event_id }: DeliveryRecord, line: TicketDeliveryQueue): void {
    this.#inFlight.delete(event_id)
    if (line.busy === event_id) line.busy = null
  }

  /** Brings the line to where it belongs in the queues: nowhere while one of its deliveries is in flight. */
  #place(line: TicketDeliveryQueue): void {
    for (const kind of kinds) {
      const order = line[kind]
      const next = line.busy === null ? order.next() : undefined
      const { placed } = order
      if (next?.event_id === placed?.event_id && next?.due_at === placed?.due_at) continue
      order.placed = next === undefined ? null : { line, ...next }
      if (order.placed !== null) this.#queues[kind].push(order.placed)
    }
    const isEmpty = line.busy === null && kinds.every((kind) => line[kind].placed === null)
    if (isEmpty) this.#lines.delete(line.ticket)
  }
}
