import type { ShopRecord } from "./Shop.js"
import type { TicketRecord } from "./Ticket.js"

/**
 * The fields of a ticket that its page needs. None of them identifies the client, and none is a note for the workshop.
 * A store reads no other fields, so a page cannot show them.
 */
export const trackedFields = [
  "number",
  "state",
  "type",
  "service",
  "item",
  "items",
  "price_minor",
  "deposit_minor",
  "promised_at",
  "delay",
  "part",
  "tracking_code",
  "created_at",
  "updated_at",
  "ready_at",
  "collected_at",
  "abandoned_at",
  "abandon_reason",
  "notified_at",
  "notified_channel"
] as const satisfies ReadonlyArray<keyof TicketRecord>

/** The fields of the ticket's shop that the page needs. */
export const trackedShopFields = [
  "id",
  "name",
  "currency",
  "decimals",
  "time_zone",
  "tracking_base_url",
  "approved",
  "active"
] as const satisfies ReadonlyArray<keyof ShopRecord>

/** A ticket that was found by its tracking code alone, with its shop. */
export interface TrackedTicket {
  /** The ticket, with the fields that a page without a key may show. */
  readonly ticket: Pick<TicketRecord, (typeof trackedFields)[number]>
  /** The ticket's shop, with the settings that such a page needs. */
  readonly shop: Pick<ShopRecord, (typeof trackedShopFields)[number]>
}

/** Returns an object with only the given fields. */
const pickFields = <A extends object, K extends keyof A>(from: A, fields: ReadonlyArray<K>): Pick<A, K> =>
  Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<A, K>

/** A ticket and its shop as {@link TrackedTicket}. */
export const trackedTicket = (ticket: TicketRecord, shop: ShopRecord): TrackedTicket => ({
  ticket: pickFields(ticket, trackedFields),
  shop: pickFields(shop, trackedShopFields)
})
