import { Either, Schema } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import type { LimitReached } from "../domain/LimitWindow.js"
import { countUse, type TicketBounds, ticketBounds } from "../domain/TicketBounds.js"
import { actOnTicket } from "./actOnTicket.js"

/** How the shop told the client itself (Specification, Endpoints). */
export const ShopChannel = Schema.Literal("sms", "whatsapp", "call").annotations({ identifier: "ShopChannel" })
export type ShopChannel = typeof ShopChannel.Type

/** Notes that the shop told the client itself, so that the client's page shows it (Specification, Endpoints; States). */
export const recordNotified = (
  shop_id: ShopId,
  id: TicketId,
  channel: ShopChannel,
  bounds: TicketBounds = ticketBounds
) =>
  actOnTicket<LimitReached>(shop_id, id, {
    by: "shop",
    patch: (record, { now, shop: { time_zone } }) =>
      Either.map(countUse(record, ["notifications_per_day"], { bounds, now, time_zone }), (counted) => ({
        notified_at: now,
        notified_channel: channel,
        ...counted
      })),
    raise: (changes, ticket, { now }) => {
      changes.raise("client.notified", { ticket, channel, notified_at: toIso(now) }, id)
    }
  })
