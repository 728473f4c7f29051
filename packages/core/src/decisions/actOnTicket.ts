import { Either, Schema } from "effect"
import { ForbiddenWord, type FoundWord } from "../domain/ForbiddenWord.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { DateTimeText, type Instant } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { AmountMinor, depositExceedsPrice } from "../domain/Money.js"
import type { ShopRecord } from "../domain/Shop.js"
import { exactly, optional, Text } from "../domain/Text.js"
import { PartStatus, QuoteClosed, quoteView, type Ticket, TicketNotFound, type TicketRecord } from "../domain/Ticket.js"
import { isOpen, TicketAbandoned } from "../domain/TicketLifecycle.js"
import { SecureWebLink } from "../domain/WebLink.js"
import { type ChangeSet, type Command, makeCommand } from "./Command.js"
import { forbiddenField } from "./createTicket.js"
import * as Load from "./Load.js"

/** The fields of a ticket that an act changes. */
export type TicketPatch = Partial<Omit<TicketRecord, "shop_id" | "id" | "updated_at" | "change_seq">>

/** An act on a ticket that does not change its state. */
export interface TicketAct<E> {
  /** The side that acts. Only an act of the shop delays the closure `no_news` (Specification, States). */
  readonly actor: "shop" | "client"
  /** The only client who may act; for others the ticket is not found. If null, anybody may. */
  readonly only_client?: ClientId | undefined
  /** The reason that the ticket does not accept the act now, whatever its input; null if it does. */
  readonly refused?: (record: TicketRecord) => E | null
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

/** The ticket's fields that a shop's message to its client changes. */
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

/** Raises `ticket.updated` with the names of the fields that the act changed (Specification, Endpoints). */
export const raiseUpdated: TicketAct<never>["raise"] = (changes, ticket, { before, record }) => {
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(record[name]))
  const changed = [...new Set(differing.map((name) => SHOWN_IN[name]))]
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
    const refused = act.refused?.(record) ?? null
    if (refused !== null) return Either.left(refused)
    const { state, updated_at } = record
    if (state === "abandoned") return Either.left(new TicketAbandoned({ state, updated_at }))
    const patch = act.patch(record, { now: moment.now, shop: loaded.shop })
    if (Either.isLeft(patch)) return Either.left(patch.left)
    const shop_changed_at = act.actor === "shop" ? moment.now : record.shop_changed_at
    const next = { ...record, ...patch.right, shop_changed_at }
    const ticket = changes.putTicket(next, linked?.client ?? null)
    act.raise(changes, ticket, { now: moment.now, before: record, record: next })
    return changes.decided(ticket)
  })

const changed = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const cleared = <A, I>(schema: Schema.Schema<A, I>) => changed(Schema.NullOr(schema))

/** The corrections of a ticket: an absent field keeps its value, and `null` clears it. Items are marked as done by their id. */
export const TicketEdit = Schema.Struct({
  service: changed(Text(Limits.service_characters)),
  item: cleared(Text(Limits.item_characters)),
  description: cleared(Text(Limits.description_characters)),
  price_minor: cleared(AmountMinor),
  deposit_minor: cleared(AmountMinor),
  promised_at: cleared(DateTimeText),
  external_ref: cleared(Text(Limits.external_ref_characters)),
  items_done: changed(
    Schema.Array(Schema.Struct({ id: Schema.String, done: Schema.Boolean })).pipe(Schema.maxItems(Limits.items_max))
  )
})
  .pipe(Schema.brand("TicketEdit"))
  .annotations(exactly)
export type TicketEdit = typeof TicketEdit.Type

const unknownItems = (record: TicketRecord, { items_done = [] }: TicketEdit) =>
  items_done.flatMap(({ id }, i) =>
    record.items.some((item) => item.id === id)
      ? []
      : [{ field: `items_done.${i}.id`, message: "is not an item of this ticket" }]
  )

/**
 * Corrects a ticket, which counts as news from the shop (Specification, States). `found` has the words that the filter found in the texts.
 */
export const editTicket = (shop_id: ShopId, id: TicketId, edit: TicketEdit, found: ReadonlyArray<FoundWord>) =>
  actOnTicket<ForbiddenWord | InvalidInput>(shop_id, id, {
    actor: "shop",
    patch: (record, { shop }) => {
      const { items_done = [], ...fields } = edit
      const next = { ...record, ...fields }
      const issues = unknownItems(record, edit)
      if (depositExceedsPrice(next.price_minor, next.deposit_minor)) {
        issues.push({ field: "deposit_minor", message: "must not be more than price_minor" })
      }
      // Otherwise accepting the quote would make its price lower than the deposit.
      if (record.quote?.status === "proposed" && depositExceedsPrice(record.quote.price_minor, next.deposit_minor)) {
        issues.push({ field: "deposit_minor", message: "must not be more than the price that was proposed" })
      }
      if (issues.length > 0) return Either.left(new InvalidInput({ issues }))
      const refused = forbiddenField(shop, edit, found)
      if (refused !== null) return Either.left(new ForbiddenWord({ field: refused }))
      const done = new Map(items_done.map((item) => [item.id, item.done]))
      return Either.right({
        ...fields,
        items: record.items.map((item) => ({ ...item, done: done.get(item.id) ?? item.done }))
      })
    },
    raise: raiseUpdated
  })

/** The client's response to a proposed price. */
export const QuoteAnswer = Schema.Literal("accepted", "refused")
export type QuoteAnswer = typeof QuoteAnswer.Type

/** A new price and the shop's note. */
export const QuoteInput = Schema.Struct({
  price_minor: AmountMinor,
  note: optional(Text(Limits.note_characters))
})
  .pipe(Schema.brand("QuoteInput"))
  .annotations({ identifier: "QuoteInput", ...exactly })
export type QuoteInput = typeof QuoteInput.Type

const closed = ({ quote, state, updated_at }: TicketRecord) =>
  new QuoteClosed({ status: quote?.status ?? null, state, updated_at })

/** Raises the quote's event by its status: proposed, accepted or refused (Specification, Webhooks). */
const raiseQuote: TicketAct<never>["raise"] = (changes, ticket, { record: { id, quote } }) => {
  if (quote !== null) changes.raiseEvent(`quote.${quote.status}`, { ticket, quote: quoteView(quote) }, id)
}

/** Proposes a new price, which replaces an earlier proposal. It is never below the deposit (Specification, Tickets). */
export const proposeQuote = (shop_id: ShopId, id: TicketId, { price_minor, note }: QuoteInput) =>
  actOnTicket<QuoteClosed | InvalidInput>(shop_id, id, {
    actor: "shop",
    refused: (record) => (record.state === "collected" ? closed(record) : null),
    patch: (record, { now }) =>
      price_minor < (record.deposit_minor ?? 0)
        ? Either.left(
            new InvalidInput({
              issues: [{ field: "price_minor", message: "must not be less than the ticket's deposit" }]
            })
          )
        : Either.right({
            quote: { status: "proposed", price_minor, note: note ?? null, proposed_at: now, answered_at: null }
          }),
    raise: raiseQuote
  })

/**
 * Records the client's answer to the proposed price, while the item is in the shop. If the client accepts, the quote becomes the price, and
 * `before_minor` keeps the earlier one (Specification, Tickets). If the act names a client, the ticket is not found unless it is theirs.
 */
export const answerQuote = (shop_id: ShopId, id: TicketId, status: QuoteAnswer, client?: ClientId) =>
  actOnTicket(shop_id, id, {
    actor: "client",
    only_client: client,
    refused: (record) => (isOpen(record.state) ? null : closed(record)),
    patch: (record, { now }) => {
      const { quote, price_minor } = record
      if (quote?.status !== "proposed") return Either.left(closed(record))
      const answered = { ...quote, status, answered_at: now }
      return Either.right(
        status === "accepted"
          ? { quote: answered, before_minor: price_minor, price_minor: quote.price_minor }
          : { quote: answered }
      )
    },
    raise: raiseQuote
  })

/** A later promised date and the reason. */
export const DelayInput = Schema.Struct({
  promised_at: DateTimeText,
  reason: optional(Text(Limits.note_characters))
})
  .pipe(Schema.brand("DelayInput"))
  .annotations({ identifier: "DelayInput", ...exactly })
export type DelayInput = typeof DelayInput.Type

/** A part that the workshop waits for, or has received. */
export const PartInput = Schema.Struct({
  label: Text(Limits.item_label_characters),
  status: PartStatus,
  expected_at: optional(DateTimeText)
})
  .pipe(Schema.brand("PartInput"))
  .annotations({ identifier: "PartInput", ...exactly })
export type PartInput = typeof PartInput.Type

/** The https address of a picture of the item. */
export const PhotoInput = Schema.Struct({ photo_url: SecureWebLink })
  .pipe(Schema.brand("PhotoInput"))
  .annotations({
    identifier: "PhotoInput",
    ...exactly
  })
export type PhotoInput = typeof PhotoInput.Type

/** Changes the promised date; `delay` keeps the previous one (Specification, Tickets). */
export const announceDelay = (shop_id: ShopId, id: TicketId, { promised_at, reason }: DelayInput) =>
  actOnTicket<never>(shop_id, id, {
    actor: "shop",
    patch: (record, { now }) =>
      Either.right({
        promised_at,
        delay: { previous_promised_at: record.promised_at, reason: reason ?? null, announced_at: now }
      }),
    raise: raiseUpdated
  })

/** Records a part as ordered or received. When the same part is received, `ordered_at` is kept (Specification, Tickets). */
export const recordPart = (shop_id: ShopId, id: TicketId, { label, status, expected_at }: PartInput) =>
  actOnTicket<never>(shop_id, id, {
    actor: "shop",
    patch: ({ part }, { now }) => {
      const current = part !== null && part.label === label ? part : null
      return Either.right({
        part: {
          label,
          status,
          ordered_at: current?.ordered_at ?? now,
          expected_at: expected_at ?? current?.expected_at ?? null,
          received_at: status === "received" ? now : null
        }
      })
    },
    raise: raiseUpdated
  })

/** Sets the ticket's picture, in place of an earlier one. */
export const attachPhoto = (shop_id: ShopId, id: TicketId, { photo_url }: PhotoInput) =>
  actOnTicket<never>(shop_id, id, { actor: "shop", patch: () => Either.right({ photo_url }), raise: raiseUpdated })
