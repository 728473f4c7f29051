import { Either, Schema } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { DateTimeText } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { PartStatus } from "../domain/Ticket.js"
import { SecureWebLink } from "../domain/WebLink.js"
import { actOnTicket, raiseUpdated } from "./actOnTicket.js"

/** A later promised date and the reason. */
export const DelayInput = Schema.Struct({
  promised_at: DateTimeText,
  reason: optional(Text(Limits.note_characters))
})
  .pipe(Schema.brand("DelayInput"))
  .annotations({ identifier: "DelayInput", ...refuseUnknownFields })
/** A new promised date with an optional reason, which {@link DelayInput} has checked. */
export type DelayInput = typeof DelayInput.Type

/** A part that the workshop waits for, or has received. */
export const PartInput = Schema.Struct({
  label: Text(Limits.item_label_characters),
  status: PartStatus,
  expected_at: optional(DateTimeText)
})
  .pipe(Schema.brand("PartInput"))
  .annotations({ identifier: "PartInput", ...refuseUnknownFields })
/** The state of a part, which {@link PartInput} has checked. */
export type PartInput = typeof PartInput.Type

/** The https address of a picture of the item. */
export const PhotoInput = Schema.Struct({ photo_url: SecureWebLink })
  .pipe(Schema.brand("PhotoInput"))
  .annotations({
    identifier: "PhotoInput",
    ...refuseUnknownFields
  })
/** The https address of a picture, which {@link PhotoInput} has checked. */
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
