import type { ShopId, TicketId } from "../domain/Identifier.js"
import type { Ticket, TicketNotFound } from "../domain/Ticket.js"
import { closure } from "../domain/TicketLifecycle.js"
import { ChangeSet, unchanged } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Load.js"

/**
 * Closes a ticket whose time is up, as of the instant at which it was; null where it is not, for instance because
 * the shop's own command came first (Specification, States).
 */
export const closeTicket = (shop_id: ShopId, id: TicketId): Command<Ticket | null, TicketNotFound> =>
  make({
    shop_id,
    needs: { ticket: Need.ticket(id) },
    decide: (loaded, moment) => {
      const { record, linked } = loaded.ticket
      const due = closure(record)
      if (due === null || moment.now < due.due_at) return unchanged<Ticket | null>(null)

      const changes = new ChangeSet(loaded, moment)
      const closed = { ...record, state: "abandoned", abandoned_at: due.due_at, abandon_reason: due.reason } as const
      const ticket = changes.ticket(closed, linked?.client ?? null)
      changes.raise("ticket.abandoned", { ticket, reason: due.reason }, id)
      return changes.decided<Ticket | null>(ticket)
    }
  })
