import { Schema } from "effect"
import { Limits } from "./Limits.js"
import { isOpen, type TicketState } from "./TicketLifecycle.js"

const { ticket_number_max } = Limits

/** A ticket's number as a shop writes it: 1 to 9999. */
export const TicketNumber = Schema.Int.pipe(
  Schema.between(1, ticket_number_max, { message: () => `must be a whole number from 1 to ${ticket_number_max}` })
)

/** The number after `number`; 9999 is followed by 1, nothing is skipped (Specification, Tickets). */
export const nextNumber = (number: number): number => (number >= ticket_number_max ? 1 : number + 1)

/**
 * The ticket that `by-number` means, then at most `limit` others: the newest open one, else the newest. Of `tickets`, which have
 * the same number and come newest first, the newest open one and the first `limit + 1` are enough (Specification, Lists and sync).
 */
export const meantFirst = <T>(
  tickets: ReadonlyArray<T>,
  stateOf: (ticket: T) => TicketState,
  limit: number
): ReadonlyArray<T> => {
  const meant = tickets.find((ticket) => isOpen(stateOf(ticket))) ?? tickets[0]
  return meant === undefined ? [] : [meant, ...tickets.filter((ticket) => ticket !== meant).slice(0, limit)]
}

/** The number as printed, four digits: `"0042"`. */
export const numberLabel = (number: number): string => String(number).padStart(4, "0")
