import { Either } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import type { LimitReached } from "../domain/LimitWindow.js"
import { stampsEarned } from "../domain/LoyaltyEarning.js"
import type { Ticket, TicketNotFound, TicketRecord } from "../domain/Ticket.js"
import { countUse, type TicketBounds, ticketBounds } from "../domain/TicketBounds.js"
import { type MoveRefusal, movedFields, moveTo, type TicketStatus } from "../domain/TicketLifecycle.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Load.js"

/**
 * Moves a ticket by the table `statusMoves`: notifies a linked client, earns the ticket's stamps and raises the events of the
 * move. `bounds` limits how often in a day (Specification, States).
 */
export const changeStatus = (
  shop_id: ShopId,
  id: TicketId,
  to: TicketStatus,
  bounds: TicketBounds = ticketBounds
): Command<Ticket, TicketNotFound | MoveRefusal | LimitReached> =>
  make({
    shop_id,
    needs: { ticket: Need.ticket(id) },
    decide: (loaded, moment) => {
      const { now } = moment
      const { record, linked } = loaded.ticket
      const found = moveTo(record, to, now)
      if (Either.isLeft(found)) return Either.left(found.left)

      const move = found.right
      const changes = new ChangeSet(loaded, moment)
      const stamps = stampsEarned(record, move, loaded.shop.program, linked?.client ?? null)
      const notifies = move.notifies_client && linked !== null
      const policies = notifies ? (["moves_per_day", "notifications_per_day"] as const) : (["moves_per_day"] as const)
      const counted = countUse(record, policies, { bounds, now, time_zone: loaded.shop.time_zone })
      if (Either.isLeft(counted)) return Either.left(counted.left)
      const next: TicketRecord = {
        ...record,
        ...movedFields(move, now),
        ...counted.right,
        state: to,
        shop_changed_at: now,
        ...(notifies && { notified_at: now, notified_channel: "app" as const }),
        stamps_earned: record.stamps_earned || stamps !== null
      }
      const ticket = changes.ticket(next, linked?.client ?? null)
      const data = move.event === "ticket.reopened" ? { ticket, from: record.state } : { ticket }
      changes.raise(move.event, data, id)
      if (linked !== null && notifies) {
        changes.raise("client.notified", { ticket, channel: "app", notified_at: toIso(now) }, id)
        const type = to === "ready" ? "ticket.ready" : "ticket.impossible"
        changes.tellClient({ client_id: linked.card.client_id, type, ticket, ticket_id: id })
      }
      if (linked !== null && stamps !== null && stamps > 0)
        changes.ledger(linked.card, { kind: "ticket", stamps, ticket_id: id, caller_id: null })
      return changes.decided(ticket)
    }
  })
