import { Either, Schema } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import { actOnTicket } from "./actOnTicket.js"

/** How the shop told the client itself (Specification, Endpoints). */
export const ShopChannel = Schema.Literal("sms", "whatsapp", "call").annotations({ identifier: "ShopChannel" })
export type ShopChannel = typeof ShopChannel.Type

/** Notes that the shop told the client itself, so that the client's page shows it (Specification, Endpoints; States). */
export const recordNotified = (shop_id: ShopId, id: TicketId, channel: ShopChannel) =>
  actOnTicket<never>(shop_id, id, {
    by: "shop",
    patch: (_, { now }) => Either.right({ notified_at: now }),
    raise: (changes, ticket, { now }) => {
      changes.raise("client.notified", { ticket, channel, notified_at: toIso(now) }, id)
    }
  })
