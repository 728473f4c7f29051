import type { Client } from "./Client.js"
import type { LoyaltyProgram } from "./LoyaltyProgram.js"
import type { TicketRecord } from "./Ticket.js"
import type { StatusMove } from "./TicketLifecycle.js"

/**
 * The stamps a move gives: once in a ticket's life, at the first of `ready` or `collected` (with outcome ready)
 * at which it has a linked client and the programme is on, even where the programme gives none then (Specification, Clients and loyalty).
 * Null at any other move, so that a later one may still earn.
 */
export const stampsEarned = (
  ticket: TicketRecord,
  move: StatusMove,
  program: LoyaltyProgram,
  client: Client | null
): number | null =>
  move.earns_stamps && program.active && client !== null && !ticket.stamps_earned ? program.stamps_per_ticket : null
