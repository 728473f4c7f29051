import type { ReceivedEvent } from "./Received.js"
import { type FieldChange, ticketDiff } from "./ticketDiff.js"

/** A ticket as an event carries it. */
export type ToldTicket = Readonly<Record<string, unknown>>

/** The ticket of which an event tells; undefined for one that tells of none, such as a ping. */
export const ticketOf = ({ data }: ReceivedEvent): ToldTicket | undefined => {
  const { ticket } = data
  return typeof ticket === "object" && ticket !== null ? (ticket as ToldTicket) : undefined
}

const MOST = 10_000

/** What an event tells that was not known: of a ticket never heard of, what changed, or of a time before what is known. */
export type News =
  | { readonly kind: "first" }
  | { readonly kind: "changes"; readonly changes: ReadonlyArray<FieldChange> }
  | { readonly kind: "late" }

const isOlder = (ticket: ToldTicket, than: ToldTicket): boolean => String(ticket.updated_at) < String(than.updated_at)

/** The tickets as the receiver last heard of them, the latest ten thousand. */
export class KnownTickets {
  readonly #tickets = new Map<string, ToldTicket>()

  /** What an event tells beyond what was known. */
  newsOf(event: ReceivedEvent): News {
    const after = ticketOf(event)
    if (after === undefined) return { kind: "changes", changes: [] }
    const before = this.#tickets.get(String(after.id))
    if (before === undefined) return { kind: "first" }
    // A retry can arrive after later events of its ticket.
    return isOlder(after, before) ? { kind: "late" } : { kind: "changes", changes: ticketDiff(before, after) }
  }

  /** Keeps the ticket as the event tells it, unless later news were kept already. */
  learn(event: ReceivedEvent): void {
    const ticket = ticketOf(event)
    if (ticket === undefined || this.newsOf(event).kind === "late") return
    const id = String(ticket.id)
    this.#tickets.delete(id)
    this.#tickets.set(id, ticket)
    if (this.#tickets.size > MOST) this.#tickets.delete(this.#tickets.keys().next().value!)
  }
}
