import { Either } from "effect"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { ShopRecord } from "../domain/Shop.js"
import { type Ticket, TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import { TicketAbandoned } from "../domain/TicketLifecycle.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Need.js"

/** What an act changes of a ticket. */
export type TicketPatch = Partial<Omit<TicketRecord, "shop_id" | "id" | "updated_at" | "change_seq">>

/** An act on a ticket that is no move between states. */
export interface TicketAct<E> {
  /** Whether the act is news from the shop, which puts off the closure for want of news (Specification, States). */
  readonly by: "shop" | "client"
  /** The only client who may act: to any other the ticket is not found. Anybody where it names none. */
  readonly of?: ClientId | undefined
  /** Why the act cannot be done to the ticket as it stands, whatever was sent with it; null where it can. */
  readonly refused?: (record: TicketRecord) => E | null
  readonly patch: (
    record: TicketRecord,
    at: { readonly now: Instant; readonly shop: ShopRecord }
  ) => Either.Either<TicketPatch, E>
  /** Raises what the act tells; the ticket and its record are as the patch left them. */
  readonly raise?: (
    changes: ChangeSet,
    ticket: Ticket,
    after: { readonly now: Instant; readonly record: TicketRecord }
  ) => void
}

/** An act on a ticket in any state but `abandoned`, or in those that the act itself allows (Specification, States). */
export const actOnTicket = <E>(
  shop_id: ShopId,
  id: TicketId,
  act: TicketAct<E>
): Command<Ticket, TicketNotFound | TicketAbandoned | E> =>
  make({
    shop_id,
    needs: { ticket: Need.ticket(id) },
    decide: (loaded, moment) => {
      const { record, linked } = loaded.ticket
      if (act.of !== undefined && act.of !== linked?.client.id) return Either.left(new TicketNotFound())
      const refused = act.refused?.(record) ?? null
      if (refused !== null) return Either.left(refused)
      const { state, updated_at } = record
      if (state === "abandoned") return Either.left(new TicketAbandoned({ state, updated_at }))
      const patch = act.patch(record, { now: moment.now, shop: loaded.shop })
      if (Either.isLeft(patch)) return Either.left(patch.left)

      const changes = new ChangeSet(loaded, moment)
      const shop_changed_at = act.by === "shop" ? moment.now : record.shop_changed_at
      const next = { ...record, ...patch.right, shop_changed_at }
      const ticket = changes.ticket(next, linked?.client ?? null)
      act.raise?.(changes, ticket, { now: moment.now, record: next })
      return changes.decided(ticket)
    }
  })
