import type { TicketId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import type { TicketRecord } from "@workshop/core/domain/Ticket"

/**
 * A shop's tickets in the order of their last change. A ticket that changes again leaves its old row behind;
 * when most rows are left behind they are cleared away, so the cost of a change stays constant on average.
 */
export class ChangeOrder {
  #rows: Array<TicketRecord> = []
  readonly #tickets: ReadonlyMap<TicketId, TicketRecord>

  constructor(tickets: ReadonlyMap<TicketId, TicketRecord>) {
    this.#tickets = tickets
  }

  #isLive(row: TicketRecord): boolean {
    return this.#tickets.get(row.id) === row
  }

  /** Notes that a ticket changed. */
  note(ticket: TicketRecord): void {
    this.#rows.push(ticket)
    if (this.#rows.length > 2 * this.#tickets.size + 16) this.#rows = this.#rows.filter((row) => this.#isLive(row))
  }

  /** When a ticket last changed; null where there is none. */
  get last_change_at(): Instant | null {
    return this.#rows.at(-1)?.updated_at ?? null
  }

  /** The tickets that changed at `since` or later and after the change `after`, in the order of their changes. */
  *from(since: Instant, after: number): Generator<TicketRecord> {
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      const row = this.#rows[middle]!
      if (row.updated_at >= since && row.change_seq > after) high = middle
      else low = middle + 1
    }
    for (let i = low; i < this.#rows.length; i++) {
      const row = this.#rows[i]!
      if (this.#isLive(row)) yield row
    }
  }
}
