import { Either, Schema } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import { type LimitReached, takeUses } from "../domain/LimitWindow.js"
import {
  stampsEarned,
  type Ticket,
  type TicketBounds,
  type TicketNotFound,
  type TicketPolicy,
  type TicketRecord,
  ticketBounds
} from "../domain/Ticket.js"
import { closure, fieldsOfMove, type MoveRefusal, moveTo, type TicketStatus } from "../domain/TicketLifecycle.js"
import { actOnTicket } from "./actOnTicket.js"
import { toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/**
 * Moves a ticket by the table `statusMoves`: notifies a linked client, or a walk-in by the ticket's number, earns the ticket's stamps and raises the events of the
 * move. `bounds` limits the moves of the ticket in a day; with null, the move is not counted (Specification, States).
 */
export const changeStatus = (
  shop_id: ShopId,
  id: TicketId,
  to: TicketStatus,
  bounds: TicketBounds | null = ticketBounds
): Command<Ticket, TicketNotFound | MoveRefusal | LimitReached> =>
  makeCommand(shop_id, { ticket: Load.ticket(id) }, (loaded, changes, moment) => {
    const { now } = moment
    const { record, linked } = loaded.ticket
    const moveOrRefusal = moveTo(record, to, now)
    if (Either.isLeft(moveOrRefusal)) return Either.left(moveOrRefusal.left)

    const move = moveOrRefusal.right
    const stamps = stampsEarned(record, move, loaded.shop.program, linked?.client ?? null)
    const notifies = move.notifies_client && linked !== null
    const policies = notifies ? (["moves_per_day", "notifications_per_day"] as const) : (["moves_per_day"] as const)
    const limitUses = takeUses<TicketPolicy>(record, policies, { bounds, now, time_zone: loaded.shop.time_zone })
    if (Either.isLeft(limitUses)) return Either.left(limitUses.left)
    const next: TicketRecord = {
      ...record,
      ...fieldsOfMove(move, now),
      ...limitUses.right.windows,
      state: to,
      shop_changed_at: now,
      ...(notifies && { notified_at: now, notified_channel: "app" as const }),
      stamps_earned: record.stamps_earned || stamps !== null
    }
    const ticket = changes.putTicket(next, linked?.client ?? null)
    const data = move.event === "ticket.reopened" ? { ticket, from: record.state } : { ticket }
    changes.raiseEvent(move.event, data, id)
    if (linked !== null && notifies) {
      changes.raiseEvent("client.notified", { ticket, channel: "app", notified_at: toIso(now) }, id)
      changes.notifyClient({ client_id: linked.card.client_id, type: move.event, ticket, ticket_id: id })
    } else if (move.notifies_client && record.client_id === null && record.client_phone !== null)
      changes.notifyClient({ client_id: null, type: move.event, ticket, ticket_id: id })
    if (linked !== null && stamps !== null && stamps > 0)
      changes.addLedgerEntry(linked.card, { kind: "ticket", stamps, ticket_id: id, caller_id: null })
    return changes.toDecision(ticket)
  })

/**
 * Closes a ticket whose closure is due, with the time at which it was due. The result is null if the closure is not due
 * any more, for instance because a command of the shop came first (Specification, States).
 */
export const closeTicket = (shop_id: ShopId, id: TicketId): Command<Ticket | null, TicketNotFound> =>
  makeCommand(shop_id, { ticket: Load.ticket(id) }, (loaded, changes, moment) => {
    const { record, linked } = loaded.ticket
    const due = closure(record)
    if (due === null || moment.now < due.due_at) return toUnchangedDecision<Ticket | null>(null)
    const closedTicket = {
      ...record,
      state: "abandoned",
      abandoned_at: due.due_at,
      abandon_reason: due.reason
    } as const
    const ticket = changes.putTicket(closedTicket, linked?.client ?? null)
    changes.raiseEvent("ticket.abandoned", { ticket, reason: due.reason }, id)
    return changes.toDecision<Ticket | null>(ticket)
  })

/** The channel by which the shop notified the client (Specification, Endpoints). */
export const ShopChannel = Schema.Literal("sms", "whatsapp", "call").annotations({ identifier: "ShopChannel" })
export type ShopChannel = typeof ShopChannel.Type

/** Records that the shop notified the client, so that the client's page shows it (Specification, Endpoints; States). */
export const recordNotified = (
  shop_id: ShopId,
  id: TicketId,
  channel: ShopChannel,
  bounds: TicketBounds | null = ticketBounds
) =>
  actOnTicket<LimitReached>(shop_id, id, {
    actor: "shop",
    patch: (record, { now, shop: { time_zone } }) =>
      Either.map(takeUses(record, ["notifications_per_day"], { bounds, now, time_zone }), ({ windows }) => ({
        notified_at: now,
        notified_channel: channel,
        ...windows
      })),
    raise: (changes, ticket, { now }) => {
      changes.raiseEvent("client.notified", { ticket, channel, notified_at: toIso(now) }, id)
    }
  })
