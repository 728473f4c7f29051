import { Schema } from "effect"
import { ClientId } from "../domain/Identifier.js"
import { DateTimeText } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { AmountMinor, depositExceedsPrice } from "../domain/Money.js"
import { optional } from "../domain/Optional.js"
import { Phone } from "../domain/Phone.js"
import { Text } from "../domain/Text.js"
import { TicketType } from "../domain/Ticket.js"

// Effect's own mark on minItems and its like: the filter is asked, with what was sent, also where other fields are
// wrong, so that every problem is told at once (Specification, Errors).
const ASKED_ALWAYS = Symbol.for("effect/annotation/StableFilter")

const isAmount = Schema.is(AmountMinor)

const ItemInput = Schema.Struct({
  label: Text(Limits.item_label_characters),
  service: optional(Text(Limits.item_service_characters)),
  price_minor: optional(AmountMinor)
}).annotations({ identifier: "TicketItemInput" })

const refusedCount = () => `must hold ${Limits.items_min} to ${Limits.items_max} entries`

/** What a shop says of a new ticket (Specification, Endpoints). Defaults are applied by the decision. */
export const TicketInput = Schema.Struct({
  service: Text(Limits.service_characters).annotations({ description: "The service, as in the app" }),
  type: optional(TicketType),
  item: optional(Text(Limits.item_characters)),
  description: optional(Text(Limits.description_characters)),
  items: optional(
    Schema.Array(ItemInput).pipe(
      Schema.minItems(Limits.items_min, { message: refusedCount }),
      Schema.maxItems(Limits.items_max, { message: refusedCount })
    )
  ),
  client_id: optional(ClientId),
  client_phone: optional(Phone),
  price_minor: optional(AmountMinor),
  deposit_minor: optional(AmountMinor),
  promised_at: optional(DateTimeText),
  external_ref: optional(Text(Limits.external_ref_characters))
})
  .pipe(
    Schema.filter(
      ({ price_minor, deposit_minor }) =>
        isAmount(price_minor) && isAmount(deposit_minor) && depositExceedsPrice(price_minor, deposit_minor)
          ? { path: ["deposit_minor"], message: "must not be more than price_minor" }
          : true,
      { [ASKED_ALWAYS]: true }
    ),
    Schema.brand("TicketInput")
  )
  .annotations({ identifier: "TicketInput" })
export type TicketInput = typeof TicketInput.Type

/** What a field means that is left out (Specification, Endpoints). */
export const ticketDefaults = { type: "repair" } as const satisfies Partial<TicketInput>
