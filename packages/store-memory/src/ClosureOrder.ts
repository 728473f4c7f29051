import type { Instant, TicketId, TicketRecord } from "@workshop/core"
import { closure } from "@workshop/core/store"

/**
 * When each of a shop's tickets is due to close, earliest first. Every closure takes the same time, so whatever becomes due
 * anew becomes due last, which is the order in which a map holds its keys; only where the clock was set back it is sorted.
 */
export class ClosureOrder {
  #due = new Map<TicketId, Instant>()
  #latest: Instant = 0
  #isSorted = true

  /** Notes when a ticket is due now, if at all. */
  note(ticket: TicketRecord): void {
    const due_at = closure(ticket)?.due_at
    const known = this.#due.get(ticket.id)
    if (due_at === known) return
    if (known !== undefined) this.#due.delete(ticket.id)
    if (due_at === undefined) return
    this.#due.set(ticket.id, due_at)
    if (due_at < this.#latest) this.#isSorted = false
    this.#latest = Math.max(this.#latest, due_at)
  }

  /** The tickets due at `until` or before, earliest first. */
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
