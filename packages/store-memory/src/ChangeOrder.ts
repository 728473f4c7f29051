import type { TicketId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import type { TicketRecord } from "@workshop/core/domain/Ticket"

interface Place {
  readonly seq: number
  readonly at: Instant
  readonly id: TicketId
}

/**
 * A shop's tickets in the order of their last change. A ticket that changes again leaves its old place behind;
 * when most places are left behind they are cleared away, so the cost of a change stays constant on average.
 */
export class ChangeOrder {
  #places: Array<Place> = []
  readonly #tickets: ReadonlyMap<TicketId, TicketRecord>

  constructor(tickets: ReadonlyMap<TicketId, TicketRecord>) {
    this.#tickets = tickets
  }

  #isLive({ seq, id }: Place): boolean {
    return this.#tickets.get(id)?.change_seq === seq
  }

  /** Notes that a ticket changed. */
  note({ change_seq, updated_at, id }: TicketRecord): void {
    this.#places.push({ seq: change_seq, at: updated_at, id })
    if (this.#places.length > 2 * this.#tickets.size + 16)
      this.#places = this.#places.filter((place) => this.#isLive(place))
  }

  /** The tickets that changed at `since` or later and after the change `after`, in the order of their changes. */
  *from(since: Instant, after: number): Generator<TicketRecord> {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      const place = this.#places[middle]!
      if (place.at >= since && place.seq > after) high = middle
      else low = middle + 1
    }
    for (let i = low; i < this.#places.length; i++) {
      const place = this.#places[i]!
      if (this.#isLive(place)) yield this.#tickets.get(place.id)!
    }
  }
}
