import { Either } from "effect"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { ShopRecord } from "../domain/Shop.js"
import { type Ticket, TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import { TicketAbandoned } from "../domain/TicketLifecycle.js"
import type { ChangeSet } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/** The fields of a ticket that an act changes. */
export type TicketPatch = Partial<Omit<TicketRecord, "shop_id" | "id" | "updated_at" | "change_seq">>

/** An act on a ticket that does not change its state. */
export interface TicketAct<E> {
  /** The side that acts. Only an act of the shop delays the closure `no_news` (Specification, States). */
  readonly actor: "shop" | "client"
  /**
   * The only client who may act; for other clients the act is refused with `TicketNotFound`. If undefined, every caller
   * may act.
   */
  readonly only_client?: ClientId | undefined
  /** Returns the reason why the ticket does not accept the act now, with any input; null if it does. */
  readonly refusalOf?: (record: TicketRecord) => E | null
  readonly patch: (
    record: TicketRecord,
    at: { readonly now: Instant; readonly shop: ShopRecord }
  ) => Either.Either<TicketPatch, E>
  /** Raises the act's events. The ticket and its record already have the patch. */
  readonly raise: (
    changes: ChangeSet,
    ticket: Ticket,
    at: { readonly now: Instant; readonly before: TicketRecord; readonly record: TicketRecord }
  ) => void
}

/** The names of a ticket's fields in `changed` of `ticket.updated`, by the fields of its record. */
const updatedFieldNames = {
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

const names = Object.keys(updatedFieldNames) as ReadonlyArray<keyof typeof updatedFieldNames>

/** Raises `ticket.updated` with the names of the fields that the act changed (Specification, Endpoints). */
export const raiseUpdated: TicketAct<never>["raise"] = (changes, ticket, { before, record }) => {
  const changedFields = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(record[name]))
  const changed = [...new Set(changedFields.map((name) => updatedFieldNames[name]))]
  changes.raiseEvent("ticket.updated", { ticket, changed }, record.id)
}

/** An act on a ticket in any state except `abandoned`, or in the states that the act itself allows (Specification, States). */
export const actOnTicket = <E>(
  shop_id: ShopId,
  id: TicketId,
  act: TicketAct<E>
): Command<Ticket, TicketNotFound | TicketAbandoned | E> =>
  makeCommand(shop_id, { ticket: Load.ticket(id) }, (loaded, changes, moment) => {
    const { record, linked } = loaded.ticket
    if (act.only_client !== undefined && act.only_client !== linked?.client.id) return Either.left(new TicketNotFound())
    const refusal = act.refusalOf?.(record) ?? null
    if (refusal !== null) return Either.left(refusal)
    const { state, updated_at } = record
    if (state === "abandoned") return Either.left(new TicketAbandoned({ state, updated_at }))
    const patch = act.patch(record, { now: moment.now, shop: loaded.shop })
    if (Either.isLeft(patch)) return Either.left(patch.left)
    const shop_changed_at = act.actor === "shop" ? moment.now : record.shop_changed_at
    const next = { ...record, ...patch.right, shop_changed_at }
    const ticket = changes.putTicket(next, linked?.client ?? null)
    act.raise(changes, ticket, { now: moment.now, before: record, record: next })
    return changes.toDecision(ticket)
  })
