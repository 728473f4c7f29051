import type { Instant, TicketId, TicketRecord } from "@workshop/core"

type Changed = Pick<TicketRecord, "id" | "updated_at" | "change_seq">

/**
 * A shop's tickets in the order of their last change. A ticket that changes again leaves its old place behind;
 * when most places are left behind they are cleared away, so the cost of a change stays constant on average.
 */
export class ChangeOrder {
  // Places and not the tickets themselves: what a ticket no longer holds must not live on in one that was left behind.
  #places: Array<Changed> = []
  #isOutOfOrder = false
  readonly #tickets: ReadonlyMap<TicketId, TicketRecord>

  constructor(tickets: ReadonlyMap<TicketId, TicketRecord>) {
    this.#tickets = tickets
  }

  /** The ticket whose last change this was; undefined where it changed since. */
  #ticketAt({ id, change_seq }: Changed): TicketRecord | undefined {
    const ticket = this.#tickets.get(id)
    return ticket?.change_seq === change_seq ? ticket : undefined
  }

  /** Notes that a ticket changed. */
  note({ id, updated_at, change_seq }: TicketRecord): void {
    // Only a repair of the shop's clock takes it back; the places left behind would stand in the way of the search.
    if (updated_at < (this.last_change_at ?? 0)) this.#isOutOfOrder = true
    this.#places.push({ id, updated_at, change_seq })
    if (!this.#isOutOfOrder && this.#places.length <= 2 * this.#tickets.size + 16) return
    this.#places = this.#places.filter((place) => this.#ticketAt(place) !== undefined)
    this.#isOutOfOrder = this.#places.some((place, i) => place.updated_at < (this.#places[i - 1]?.updated_at ?? 0))
  }

  /** When a ticket last changed; null where there is none. */
  get last_change_at(): Instant | null {
    return this.#places.at(-1)?.updated_at ?? null
  }

  /** The tickets that changed at `since` or later and after the change `after`, in the order of their changes. */
  *from(since: Instant, after: number): Generator<TicketRecord> {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      const place = this.#places[middle]!
      if (place.updated_at >= since && place.change_seq > after) high = middle
      else low = middle + 1
    }
    for (let i = low; i < this.#places.length; i++) {
      const ticket = this.#ticketAt(this.#places[i]!)
      if (ticket !== undefined) yield ticket
    }
  }
}
