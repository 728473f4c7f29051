import { Either, Schema } from "effect"
import { ForbiddenWord, type FoundWord, forbiddenField } from "../domain/ForbiddenWord.js"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { DateTimeText } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { AmountMinor, depositExceedsPrice } from "../domain/Money.js"
import { refuseUnknownFields, Text } from "../domain/Text.js"
import type { TicketRecord } from "../domain/Ticket.js"
import { actOnTicket, raiseUpdated } from "./actOnTicket.js"

const optionalField = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const clearableField = <A, I>(schema: Schema.Schema<A, I>) => optionalField(Schema.NullOr(schema))

/**
 * The corrections of a ticket: an absent field keeps its value, and `null` clears it. `items_done` marks items as done
 * by their ids.
 */
export const TicketEdit = Schema.Struct({
  service: optionalField(Text(Limits.service_characters)),
  item: clearableField(Text(Limits.item_characters)),
  description: clearableField(Text(Limits.description_characters)),
  price_minor: clearableField(AmountMinor),
  deposit_minor: clearableField(AmountMinor),
  promised_at: clearableField(DateTimeText),
  external_ref: clearableField(Text(Limits.external_ref_characters)),
  items_done: optionalField(
    Schema.Array(Schema.Struct({ id: Schema.String, done: Schema.Boolean })).pipe(Schema.maxItems(Limits.items_max))
  )
})
  .pipe(Schema.brand("TicketEdit"))
  .annotations(refuseUnknownFields)
/** The fields to change, which {@link TicketEdit} has checked. An absent field stays; null clears a field. */
export type TicketEdit = typeof TicketEdit.Type

const findUnknownItems = (record: TicketRecord, { items_done = [] }: TicketEdit) =>
  items_done.flatMap(({ id }, i) =>
    record.items.some((item) => item.id === id)
      ? []
      : [{ field: `items_done.${i}.id`, message: "is not an item of this ticket" }]
  )

/**
 * Corrects a ticket. This counts as news from the shop (Specification, States). `foundWords` are
 * the words that the filter found in the texts.
 */
export const editTicket = (shop_id: ShopId, id: TicketId, edit: TicketEdit, foundWords: ReadonlyArray<FoundWord>) =>
  actOnTicket<ForbiddenWord | InvalidInput>(shop_id, id, {
    actor: "shop",
    patch: (record, { shop }) => {
      const { items_done = [], ...fields } = edit
      const next = { ...record, ...fields }
      const issues = findUnknownItems(record, edit)
      if (depositExceedsPrice(next.price_minor, next.deposit_minor)) {
        issues.push({ field: "deposit_minor", message: "must not be greater than price_minor" })
      }
      // If the decision accepted this deposit, the client could accept the quote, and the price would then be below the
      // deposit.
      if (record.quote?.status === "proposed" && depositExceedsPrice(record.quote.price_minor, next.deposit_minor)) {
        issues.push({ field: "deposit_minor", message: "must not be greater than the proposed price" })
      }
      if (issues.length > 0) return Either.left(new InvalidInput({ issues }))
      const forbidden = forbiddenField(shop, edit, foundWords)
      if (forbidden !== null) return Either.left(new ForbiddenWord({ field: forbidden }))
      const doneByItem = new Map(items_done.map((item) => [item.id, item.done]))
      return Either.right({
        ...fields,
        items: record.items.map((item) => ({ ...item, done: doneByItem.get(item.id) ?? item.done }))
      })
    },
    raise: raiseUpdated
  })
