import type { OfferId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Phone } from "./Phone.js"
import { RefusalOf } from "./RefusalOf.js"
import { latestOfShops } from "./Shop.js"

/** The status of an offer: open, accepted, or answered with a block of the shop. */
export type OfferStatus = "open" | "accepted" | "blocked"

/**
 * A ticket offered to a phone number, whether or not an account has the number. The offer is made to the number and not
 * to an account, so that nothing in a create depends on whether an account exists (Specification, Endpoints; Tickets).
 */
export interface OfferRecord {
  /** The offer's id, by which the client accepts it. */
  readonly id: OfferId
  /** The shop that offers the ticket. */
  readonly shop_id: ShopId
  /** The offered ticket. */
  readonly ticket_id: TicketId
  /** The number to which the ticket is offered. */
  readonly phone: Phone
  /** Whether it is open, accepted or blocked. */
  readonly status: OfferStatus
  /** When it was made, in milliseconds since 1970. */
  readonly created_at: Instant
  /** When the client answered it, in milliseconds since 1970; null before. */
  readonly answered_at: Instant | null
}

/**
 * Whether a client still sees an offer of a shop that they block, by the offer's status: an open one is hidden (Specification, Clients and
 * loyalty).
 */
export const visibleWhileBlocked = { open: false, accepted: true, blocked: true } as const satisfies Record<
  OfferStatus,
  boolean
>

/**
 * The offers that a client sees, of all offers to their number, oldest first: the latest of each shop (Specification, Clients and loyalty).
 */
export const visibleOffers = (
  offers: ReadonlyArray<OfferRecord>,
  isBlocked: (shop_id: ShopId) => boolean
): ReadonlyArray<OfferRecord> =>
  latestOfShops(offers, ({ shop_id, status }) => visibleWhileBlocked[status] || !isBlocked(shop_id))

/** No such offer. */
export class OfferNotFound extends RefusalOf("OfferNotFound", "There is no offer with this id") {}

/** The offer was already answered, or the client blocks its shop (Specification, Sandbox). */
export class OfferClosed extends RefusalOf("OfferClosed", "The offer was already answered") {}
