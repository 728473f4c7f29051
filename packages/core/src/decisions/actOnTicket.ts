import { Either } from "effect"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { ShopRecord } from "../domain/Shop.js"
import { type Ticket, TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import { TicketAbandoned } from "../domain/TicketLifecycle.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Load.js"

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
  readonly raise: (
    changes: ChangeSet,
    ticket: Ticket,
    at: { readonly now: Instant; readonly before: TicketRecord; readonly record: TicketRecord }
  ) => void
}

/** The fields of a ticket in which what the shop says of it shows. */
const SHOWN_IN = {
  service: "service",
  item: "item",
  description: "description",
  items: "items",
  price_minor: "money",
  deposit_minor: "money",
  promised_at: "promised_at",
  delay: "delay",
  part: "part",
  photo_url: "photo_url",
  external_ref: "external_ref"
} as const satisfies Partial<Record<keyof TicketRecord, keyof Ticket>>

const names = Object.keys(SHOWN_IN) as ReadonlyArray<keyof typeof SHOWN_IN>

/** Raises `ticket.updated` with the fields of the ticket that the act changed (Specification, Endpoints). */
export const raiseUpdated: TicketAct<never>["raise"] = (changes, ticket, { before, record }) => {
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(record[name]))
  const changed = [...new Set(differing.map((name) => SHOWN_IN[name]))]
  changes.raise("ticket.updated", { ticket, changed }, record.id)
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
      act.raise(changes, ticket, { now: moment.now, before: record, record: next })
      return changes.decided(ticket)
    }
  })
