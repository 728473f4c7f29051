import { type DeliveryRecord, standing } from "@workshop/core/domain/Delivery"
import type { EventId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import type { Webhook } from "@workshop/core/domain/Webhook"
import { MOST_IN_FLIGHT_PER_SHOP } from "@workshop/core/ports/Deliveries"
import TinyQueue from "tinyqueue"

/** A place in the queue. It is out of date where its delivery has since moved; then it is passed over. */
interface Place {
  readonly due_at: Instant
  readonly seq: number
  readonly event_id: EventId
}

const earlier = (a: Place, b: Place): number => a.due_at - b.due_at || a.seq - b.seq

/** Deliveries without a ticket stand in nobody's way. */
const ticketOf = ({ ticket_id, event_id }: DeliveryRecord): string => ticket_id ?? event_id

/** Live and replayed deliveries of a ticket keep their order each, or a replay could hold back what is live. */
const orderOf = (row: DeliveryRecord): string => `${row.is_replay ? "replayed" : "live"} ${ticketOf(row)}`

/**
 * The queue of one shop: what is due, live ones before replayed ones, one of a ticket at a time and in the order of its
 * events. A delivery held back by another of its ticket waits apart until that one moves, so a claim never searches.
 */
export class Lane {
  readonly #rows: Map<EventId, DeliveryRecord>
  readonly #inFlight = new Map<EventId, bigint>()
  readonly #busy = new Map<string, EventId>()
  /** The deliveries of each ticket that were not tried yet, in the order of their events. */
  readonly #untried = new Map<string, Set<EventId>>()
  readonly #heldBack = new Map<string, Array<Place>>()
  #live = new TinyQueue<Place>([], earlier)
  #replayed = new TinyQueue<Place>([], earlier)
  #webhook: Webhook | null = null

  constructor(rows: Map<EventId, DeliveryRecord>) {
    this.#rows = rows
  }

  /** Whether the webhook is set and on. */
  get #isOn(): boolean {
    return this.#webhook !== null && this.#webhook.off_reason === null
  }

  /** Notes the webhook; turning it on again makes everything from before due anew. */
  webhook(webhook: Webhook): void {
    const isReleased = this.#webhook !== null && webhook.generation > this.#webhook.generation
    this.#webhook = webhook
    if (!isReleased) return
    this.#live = new TinyQueue<Place>([], earlier)
    this.#replayed = new TinyQueue<Place>([], earlier)
    this.#heldBack.clear()
    this.#untried.clear()
    for (const row of this.#rows.values()) {
      this.#order(row)
      if (!this.#inFlight.has(row.event_id)) this.#enqueue(row)
    }
  }

  /** Notes a row that was written: whoever had claimed it has let go. */
  put(row: DeliveryRecord): void {
    this.#letGo(row)
    this.#order(row)
    this.#enqueue(row)
    this.#advance(ticketOf(row))
  }

  /** Notes a row that was taken away. */
  remove(row: DeliveryRecord): void {
    this.#letGo(row)
    this.#forget(row)
    this.#advance(ticketOf(row))
  }

  /** Claims the next delivery that is due; undefined where there is none, or four are in flight. */
  claim(now: Instant, lease_until: bigint): DeliveryRecord | undefined {
    if (!this.#isOn || this.#inFlight.size >= MOST_IN_FLIGHT_PER_SHOP) return undefined
    const row = this.#take(this.#live, now) ?? this.#take(this.#replayed, now)
    if (row === undefined) return undefined
    const claimed = { ...row, token: row.token + 1 }
    this.#rows.set(row.event_id, claimed)
    this.#inFlight.set(row.event_id, lease_until)
    this.#busy.set(ticketOf(row), row.event_id)
    return claimed
  }

  /** Puts back what was claimed until now or before. Answers how many that were. */
  reclaim(now: bigint): number {
    const ended = [...this.#inFlight].filter(([, until]) => until <= now).map(([event_id]) => this.#rows.get(event_id)!)
    for (const row of ended) this.put(row)
    return ended.length
  }

  /** When the next delivery is due that could be claimed; undefined where there is none. */
  next(): Instant | undefined {
    if (!this.#isOn || this.#inFlight.size >= MOST_IN_FLIGHT_PER_SHOP) return undefined
    const dues = [this.#live, this.#replayed].flatMap((queue) => this.#first(queue)?.due_at ?? [])
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  #standing(row: DeliveryRecord): Pick<DeliveryRecord, "attempts_in_round" | "due_at"> {
    return this.#webhook === null ? row : standing(row, this.#webhook)
  }

  #enqueue(row: DeliveryRecord): void {
    const queue = row.is_replay ? this.#replayed : this.#live
    queue.push({ due_at: this.#standing(row).due_at, seq: row.seq, event_id: row.event_id })
  }

  #order(row: DeliveryRecord): void {
    if (this.#standing(row).attempts_in_round > 0) {
      this.#forget(row)
      return
    }
    const untried = this.#untried.get(orderOf(row))
    if (untried === undefined) this.#untried.set(orderOf(row), new Set([row.event_id]))
    else untried.add(row.event_id)
  }

  #forget(row: DeliveryRecord): void {
    const untried = this.#untried.get(orderOf(row))
    untried?.delete(row.event_id)
    if (untried?.size === 0) this.#untried.delete(orderOf(row))
  }

  #letGo(row: DeliveryRecord): void {
    this.#inFlight.delete(row.event_id)
    if (this.#busy.get(ticketOf(row)) === row.event_id) this.#busy.delete(ticketOf(row))
  }

  /** Brings back what the ticket's other deliveries held back. */
  #advance(ticket: string): void {
    const held = this.#heldBack.get(ticket)
    if (held === undefined) return
    this.#heldBack.delete(ticket)
    for (const { event_id } of held) {
      const row = this.#rows.get(event_id)
      if (row !== undefined && !this.#inFlight.has(event_id)) this.#enqueue(row)
    }
  }

  /** The first place that is not out of date; those that another of their ticket holds back are set aside. */
  #first(queue: TinyQueue<Place>): Place | undefined {
    for (let place = queue.peek(); place !== undefined; place = queue.peek()) {
      const row = this.#rows.get(place.event_id)
      const isCurrent =
        row !== undefined && !this.#inFlight.has(place.event_id) && this.#standing(row).due_at === place.due_at
      if (isCurrent && !this.#isHeldBack(row)) return place
      queue.pop()
      if (isCurrent) this.#holdBack(ticketOf(row), place)
    }
    return undefined
  }

  #isHeldBack(row: DeliveryRecord): boolean {
    if (this.#busy.has(ticketOf(row))) return true
    const [firstUntried] = this.#untried.get(orderOf(row)) ?? []
    return this.#standing(row).attempts_in_round === 0 && firstUntried !== undefined && firstUntried !== row.event_id
  }

  #holdBack(ticket: string, place: Place): void {
    const held = this.#heldBack.get(ticket)
    if (held === undefined) this.#heldBack.set(ticket, [place])
    else held.push(place)
  }

  #take(queue: TinyQueue<Place>, now: Instant): DeliveryRecord | undefined {
    const place = this.#first(queue)
    if (place === undefined || place.due_at > now) return undefined
    queue.pop()
    return this.#rows.get(place.event_id)
  }
}
