import type { DeliveryRecord, EventId } from "@workshop/core"
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

/** How a line looks up a delivery: where it is due now, and whether it was tried since it was made due anew. */
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
