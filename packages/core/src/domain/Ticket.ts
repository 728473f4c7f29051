import type * as Named from "@workshop/client"
import { Data, Schema } from "effect"
import { ClientBadge, clientBadge, type DisplayedClient } from "./Client.js"
import type { ClientId, ShopId, TicketId } from "./Identifier.js"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"
import { defaultLimits, Limits, type LimitsByPolicy } from "./Limits.js"
import type { LimitWindow } from "./LimitWindow.js"
import type { LoyaltyProgram } from "./LoyaltyCard.js"
import { computeRemaining, Money } from "./Money.js"
import type { Phone } from "./Phone.js"
import { RefusalOf } from "./RefusalOf.js"
import type { ShopRecord } from "./Shop.js"
import type { TicketChangeRecord } from "./TicketChange.js"
import { AbandonReason, isOpen, type StatusMove, type TicketPresent, TicketState } from "./TicketLifecycle.js"
import { trackingUrl } from "./TrackingCode.js"

/**
 * The policies that limit the moves and notifications of one ticket in a day, because each move stores the whole ticket again and notifies
 * people.
 */
export type TicketPolicy = "moves_per_day" | "notifications_per_day"

/**
 * How often a ticket may be moved, and its client notified, in a day of its shop. The embedder may set these limits.
 */
export type TicketBounds = Pick<LimitsByPolicy, TicketPolicy>

/** The default limits. */
export const ticketBounds: TicketBounds = defaultLimits

/** The windows that a ticket stores; null if a policy was never used. */
export type TicketWindows = Readonly<Record<TicketPolicy, LimitWindow | null>>

const { ticket_number_max } = Limits

/** A ticket's number: 1 to `Limits.ticket_number_max`. */
export const TicketNumber = Schema.Int.pipe(
  Schema.between(1, ticket_number_max, { message: () => `must be a whole number from 1 to ${ticket_number_max}` })
)

/** The number after `number`; the largest is followed by 1, and none is skipped (Specification, Tickets). */
export const nextNumber = (number: number): number => (number >= ticket_number_max ? 1 : number + 1)

/**
 * The ticket that the endpoint `by-number` returns as its `data`, which is the newest open one or else the newest, then
 * at most `limit` others. `tickets` have the same number, newest first. The newest open one and the first `limit + 1`
 * of them are enough (Specification, Lists and sync).
 */
export const preferredByNumber = <T>(
  tickets: ReadonlyArray<T>,
  stateOf: (ticket: T) => TicketState,
  limit: number
): ReadonlyArray<T> => {
  const preferred = tickets.find((ticket) => isOpen(stateOf(ticket))) ?? tickets[0]
  return preferred === undefined ? [] : [preferred, ...tickets.filter((ticket) => ticket !== preferred).slice(0, limit)]
}

/** The digits of every printed number: as many as `Limits.ticket_number_max` has, so that all have the same width. */
export const NUMBER_DIGITS = String(ticket_number_max).length

/** The number as printed, with leading zeros: `"0042"` (Specification, Tickets). */
export const numberLabel = (number: number): string => String(number).padStart(NUMBER_DIGITS, "0")

/** A new price that the shop proposed to its client (Specification, Tickets). */
export const Quote = Schema.Struct({
  status: Schema.Literal("proposed", "accepted", "refused").annotations({ identifier: "QuoteStatus" }),
  price_minor: Schema.Int,
  note: Schema.NullOr(Schema.String),
  proposed_at: Schema.String,
  answered_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Quote", description: "A new price proposed to the client" })
export interface Quote extends Named.Quote {}

/** A quote as it is stored. */
export interface QuoteRecord {
  /** `proposed` until the client answers, then the client's answer. */
  readonly status: Quote["status"]
  /** The proposed price, in minor units of the shop's currency. */
  readonly price_minor: number
  /** The shop's reason for the new price, or null. */
  readonly note: string | null
  /** When the shop proposed the price, in milliseconds since 1970. */
  readonly proposed_at: Instant
  /** When the client answered, in milliseconds since 1970; null before that. */
  readonly answered_at: Instant | null
}

/** The quote, as responses contain it. */
export const quoteView = (quote: QuoteRecord): Quote => ({
  status: quote.status,
  price_minor: quote.price_minor,
  note: quote.note,
  proposed_at: toIso(quote.proposed_at),
  answered_at: toIsoOrNull(quote.answered_at)
})

/** The quote was already answered, none was proposed, or the ticket has left the shop (Specification, Sandbox). */
export class QuoteClosed extends Data.TaggedError("QuoteClosed")<
  TicketPresent & { readonly status: Quote["status"] | null }
> {
  /** The problem, as a sentence for people. */
  override get message() {
    if (!isOpen(this.state)) return `The ticket is ${this.state}, so its price can no longer change`
    return this.status === null
      ? "No price was proposed for this ticket"
      : `The proposed price was already ${this.status}`
  }
}

/** The status of a part: ordered, or received in the workshop. */
export const PartStatus = Schema.Literal("ordered", "received").annotations({ identifier: "PartStatus" })
export type PartStatus = typeof PartStatus.Type

/** A part that the workshop waits for (Specification, Tickets). */
export const Part = Schema.Struct({
  label: Schema.String,
  status: PartStatus,
  ordered_at: Schema.String,
  expected_at: Schema.NullOr(Schema.String),
  received_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Part", description: "A part that the shop ordered for the ticket" })
/** A part of a ticket in the form of the API's JSON. Instants are ISO 8601 in UTC. */
export interface Part extends Named.Part {}

/** A part as it is stored. */
export interface PartRecord {
  /** The name of the part. */
  readonly label: string
  /** `ordered` while the part is on its way, then `received`. */
  readonly status: PartStatus
  /** When the shop recorded the order, in milliseconds since 1970. */
  readonly ordered_at: Instant
  /** When the shop expects the part, in milliseconds since 1970; null if unknown. */
  readonly expected_at: Instant | null
  /** When the part arrived, in milliseconds since 1970; null before that. */
  readonly received_at: Instant | null
}

/** The part, as responses contain it. */
export const partView = (part: PartRecord): Part => ({
  label: part.label,
  status: part.status,
  ordered_at: toIso(part.ordered_at),
  expected_at: toIsoOrNull(part.expected_at),
  received_at: toIsoOrNull(part.received_at)
})

/** A later promised date; the ticket's `promised_at` has the new one (Specification, Tickets). */
export const Delay = Schema.Struct({
  previous_promised_at: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  announced_at: Schema.String
}).annotations({ identifier: "Delay", description: "The last postponement of the promised date" })
export interface Delay extends Named.Delay {}

/** A delay as it is stored. */
export interface DelayRecord {
  /** The date that was promised before, in milliseconds since 1970; null if there was none. */
  readonly previous_promised_at: Instant | null
  /** The shop's reason for the delay, or null. */
  readonly reason: string | null
  /** When the shop postponed the date, in milliseconds since 1970. */
  readonly announced_at: Instant
}

/** The delay, as responses contain it. */
export const delayView = (delay: DelayRecord): Delay => ({
  previous_promised_at: toIsoOrNull(delay.previous_promised_at),
  reason: delay.reason,
  announced_at: toIso(delay.announced_at)
})

/** `repair` of something that was brought in, or `prepare` for an order (Specification, Requests and responses). */
export const TicketType = Schema.Literal("repair", "prepare").annotations({ identifier: "TicketType" })
/** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
export type TicketType = typeof TicketType.Type

const Outcome = Schema.Literal("ready", "impossible").annotations({ identifier: "TicketOutcome" })

/** One of several items on a ticket (Specification, Resources). */
export const TicketItem = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  service: Schema.NullOr(Schema.String),
  price_minor: Schema.NullOr(Schema.Int),
  done: Schema.Boolean
}).annotations({ identifier: "TicketItem", description: "One of several items on a ticket" })
/** An item of a ticket in the form of the API's JSON. The price is in minor units. */
export interface TicketItem extends Named.TicketItem {}

const text = Schema.NullOr(Schema.String)
const instant = Schema.NullOr(Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } }))

/** A ticket, as responses and events contain it (Specification, Resources). */
export const Ticket = Schema.Struct({
  id: Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  number: Schema.NullOr(Schema.Int),
  number_label: text,
  state: TicketState,
  outcome: Schema.NullOr(Outcome).annotations({
    description: "For a collected ticket, whether it was ready or not possible"
  }),
  type: TicketType,
  service: Schema.String,
  item: text.annotations({ description: "The item dropped off" }),
  description: text.annotations({ description: "Note for the workshop" }),
  items: Schema.Array(TicketItem),
  money: Money,
  quote: Schema.NullOr(Quote),
  promised_at: instant,
  delay: Schema.NullOr(Delay),
  part: Schema.NullOr(Part),
  client: Schema.NullOr(ClientBadge),
  client_phone: text,
  tracking_code: text.annotations({ description: "Readable code, as printed and sent to the client" }),
  tracking_url: text,
  photo_url: text,
  created_at: Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } }),
  updated_at: Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } }),
  ready_at: instant,
  collected_at: instant,
  abandoned_at: instant,
  abandon_reason: Schema.NullOr(AbandonReason),
  notified_at: instant,
  created_via: Schema.Literal("app", "api").annotations({ identifier: "CreatedVia" }),
  external_ref: text.annotations({ description: "The caller's own reference" })
}).annotations({
  identifier: "Ticket",
  description: "Something that a shop repairs or prepares for a client, with its state, its price and its dates"
})
/** A ticket in the form of the API's JSON. Instants are ISO 8601 in UTC, and amounts are in minor units. */
export interface Ticket extends Named.Ticket {}

/** How the client was notified (Specification, Endpoints; States). */
export type NotifiedChannel = "app" | "sms" | "whatsapp" | "call"

/** A ticket as it is stored: the data of `ticketView`, and the data that the rules need. */
export interface TicketRecord extends TicketWindows {
  /** The shop that has the ticket. */
  readonly shop_id: ShopId
  /** A UUID. The ids of a shop's tickets increase, so their order is the order of creation. */
  readonly id: TicketId
  /** The number that the shop writes on the item, 1 to 9999. Numbers repeat, so it does not identify a ticket. */
  readonly number: number
  /** The ticket's state, which only moves of {@link TicketState} change. */
  readonly state: TicketState
  /** For a collected ticket, whether the work was done; null in other states. */
  readonly outcome: "ready" | "impossible" | null
  /** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
  readonly type: TicketType
  /** The work to do, such as `Resoling`. */
  readonly service: string
  /** The item that was brought in, such as `Brown boots`, or null. */
  readonly item: string | null
  /** A note for the people in the workshop, or null. */
  readonly description: string | null
  /** The items of the ticket if there are several; otherwise empty. */
  readonly items: ReadonlyArray<TicketItem>
  /** The price in minor units of the shop's currency, or null if the shop gave none. */
  readonly price_minor: number | null
  /** The amount already paid, in minor units, or null. */
  readonly deposit_minor: number | null
  /** The price in minor units before the client accepted a new one, or null. */
  readonly before_minor: number | null
  /** The last new price that was proposed to the client, or null. */
  readonly quote: QuoteRecord | null
  /** When the shop promised to have the ticket ready, in milliseconds since 1970, or null. */
  readonly promised_at: Instant | null
  /** The last postponement of the promised date, or null. */
  readonly delay: DelayRecord | null
  /** The part that the workshop waits for or has received, or null. */
  readonly part: PartRecord | null
  /** The linked client, even if they block the shop; null if no client is linked. */
  readonly client_id: ClientId | null
  /** The phone number that was given with the ticket, or null. */
  readonly client_phone: Phone | null
  /** The code of the receipt, by which a client finds the ticket. Tickets of one shop have different codes. */
  readonly tracking_code: string
  /** The https address of a picture of the item, or null. */
  readonly photo_url: string | null
  /** When the ticket was created, in milliseconds since 1970. */
  readonly created_at: Instant
  /** When a field of the ticket last changed, in milliseconds since 1970. It never decreases. */
  readonly updated_at: Instant
  /** When the ticket became ready, in milliseconds since 1970; null again after it goes back to the workshop. */
  readonly ready_at: Instant | null
  /** When the item was collected, in milliseconds since 1970; null again after the ticket is reopened. */
  readonly collected_at: Instant | null
  /** When the service closed the ticket, in milliseconds since 1970, or null. */
  readonly abandoned_at: Instant | null
  /** Why the service closed the ticket, or null. */
  readonly abandon_reason: AbandonReason | null
  /** When the client was last notified, by the app or by the shop, in milliseconds since 1970, or null. */
  readonly notified_at: Instant | null
  /** How the client was last notified; null if they were not, or if an older release did not record how. */
  readonly notified_channel: NotifiedChannel | null
  /** Whether the ticket was created in the shop's app or through the API. */
  readonly created_via: "app" | "api"
  /** The API client's own reference, or null. A list can be filtered by it. */
  readonly external_ref: string | null
  /**
   * The position of the ticket's last change in the shop's order of changes, which the sync follows (Specification,
   * Lists and sync).
   */
  readonly change_seq: number
  /** The instant of the shop's last act on the ticket, which a client's acts do not change (Specification, States). */
  readonly shop_changed_at: Instant
  /**
   * Whether the ticket has earned its stamps, even if their number was 0. A ticket earns stamps once (Specification,
   * Clients and loyalty).
   */
  readonly stamps_earned: boolean
  /** The changes with their authors, oldest first; null for a ticket of an older release. Lists of tickets omit it. */
  readonly history?: ReadonlyArray<TicketChangeRecord> | null
}

/** The shop has no such ticket (Specification, Endpoints). */
export class TicketNotFound extends RefusalOf("TicketNotFound", "This shop has no ticket with this id or number") {}

/**
 * The ticket as its shop sees it. `client` is null if the ticket has no client or the client blocks the shop
 * (Specification, Resources; Clients and loyalty). `tracking_base_url` is the address of the service's own pages, for a
 * shop without its own.
 */
export const ticketView = (
  ticket: TicketRecord,
  shop: ShopRecord,
  client: DisplayedClient | null,
  tracking_base_url: string | null
): Ticket => ({
  id: ticket.id,
  number: ticket.number,
  number_label: numberLabel(ticket.number),
  state: ticket.state,
  outcome: ticket.outcome,
  type: ticket.type,
  service: ticket.service,
  item: ticket.item,
  description: ticket.description,
  items: ticket.items,
  money: {
    currency: shop.currency,
    decimals: shop.decimals,
    price_minor: ticket.price_minor,
    deposit_minor: ticket.deposit_minor,
    remaining_minor: computeRemaining(ticket.price_minor, ticket.deposit_minor),
    before_minor: ticket.before_minor
  },
  quote: ticket.quote === null ? null : quoteView(ticket.quote),
  promised_at: toIsoOrNull(ticket.promised_at),
  delay: ticket.delay === null ? null : delayView(ticket.delay),
  part: ticket.part === null ? null : partView(ticket.part),
  client: client === null ? null : clientBadge(client),
  client_phone: ticket.client_phone,
  tracking_code: ticket.tracking_code,
  tracking_url: trackingUrl(shop.tracking_base_url ?? tracking_base_url, ticket.tracking_code),
  photo_url: ticket.photo_url,
  created_at: toIso(ticket.created_at),
  updated_at: toIso(ticket.updated_at),
  ready_at: toIsoOrNull(ticket.ready_at),
  collected_at: toIsoOrNull(ticket.collected_at),
  abandoned_at: toIsoOrNull(ticket.abandoned_at),
  abandon_reason: ticket.abandon_reason,
  notified_at: toIsoOrNull(ticket.notified_at),
  created_via: ticket.created_via,
  external_ref: ticket.external_ref
})

/**
 * The stamps that this move earns. A ticket earns stamps once: at its first move to `ready`, or to `collected` with the
 * outcome ready, while it has a linked client and the programme is on. 0 if the programme then gives no stamps; null if
 * this move does not count, so that a later one may (Specification, Clients and loyalty).
 */
export const stampsEarned = (
  ticket: TicketRecord,
  move: StatusMove,
  program: LoyaltyProgram,
  client: DisplayedClient | null
): number | null =>
  move.earns_stamps && program.active && client !== null && !ticket.stamps_earned ? program.stamps_per_ticket : null
