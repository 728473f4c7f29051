import { Either, Schema } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { DateTimeText } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { optional } from "../domain/Optional.js"
import { PartStatus } from "../domain/Part.js"
import { Text } from "../domain/Text.js"
import { SecureWebLink } from "../domain/WebLink.js"
import { actOnTicket, raiseUpdated } from "./actOnTicket.js"

/** A later promise and why. */
export const DelayInput = Schema.Struct({
  promised_at: DateTimeText,
  reason: optional(Text(Limits.note_characters))
})
  .pipe(Schema.brand("DelayInput"))
  .annotations({ identifier: "DelayInput" })
export type DelayInput = typeof DelayInput.Type

/** A part the workshop waits for, or has received. */
export const PartInput = Schema.Struct({
  label: Text(Limits.item_label_characters),
  status: PartStatus,
  expected_at: optional(DateTimeText)
})
  .pipe(Schema.brand("PartInput"))
  .annotations({ identifier: "PartInput" })
export type PartInput = typeof PartInput.Type

/** An https address of a picture of the item. */
export const PhotoInput = Schema.Struct({ photo_url: SecureWebLink }).pipe(Schema.brand("PhotoInput")).annotations({
  identifier: "PhotoInput"
})
export type PhotoInput = typeof PhotoInput.Type

/** Postpones the promise; the delay keeps the one before (Specification, Tickets). */
export const announceDelay = (shop_id: ShopId, id: TicketId, { promised_at, reason }: DelayInput) =>
  actOnTicket<never>(shop_id, id, {
    by: "shop",
    patch: (record, { now }) =>
      Either.right({
        promised_at,
        delay: { previous_promised_at: record.promised_at, reason: reason ?? null, announced_at: now }
      }),
    raise: raiseUpdated
  })

/** Notes a part as ordered or received. The same part received keeps when it was ordered (Specification, Tickets). */
export const recordPart = (shop_id: ShopId, id: TicketId, { label, status, expected_at }: PartInput) =>
  actOnTicket<never>(shop_id, id, {
    by: "shop",
    patch: ({ part }, { now }) => {
      const known = part !== null && part.label === label ? part : null
      return Either.right({
        part: {
          label,
          status,
          ordered_at: known?.ordered_at ?? now,
          expected_at: expected_at ?? known?.expected_at ?? null,
          received_at: status === "received" ? now : null
        }
      })
    },
    raise: raiseUpdated
  })

/** Puts a picture to the ticket, in the place of the one before. */
export const attachPhoto = (shop_id: ShopId, id: TicketId, { photo_url }: PhotoInput) =>
  actOnTicket<never>(shop_id, id, { by: "shop", patch: () => Either.right({ photo_url }), raise: raiseUpdated })
