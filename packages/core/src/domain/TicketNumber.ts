import { Schema } from "effect"

/** The number after which numbering starts again at 1 (Specification, Resources). */
export const LAST_TICKET_NUMBER = 9999

/** A ticket's number as a shop writes it: 1 to 9999. */
export const TicketNumber = Schema.Int.pipe(
  Schema.between(1, LAST_TICKET_NUMBER, { message: () => `must be a whole number from 1 to ${LAST_TICKET_NUMBER}` })
)

/** The number after `number`; 9999 is followed by 1, nothing is skipped (Specification, Tickets). */
export const nextNumber = (number: number): number => (number >= LAST_TICKET_NUMBER ? 1 : number + 1)

/** The number as printed, four digits: `"0042"`. */
export const numberLabel = (number: number): string => String(number).padStart(4, "0")
