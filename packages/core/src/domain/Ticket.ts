import { Data, Schema } from "effect"
import { type Client, ClientBadge, clientBadge } from "./Client.js"
import { Delay, type DelayRecord, delayView } from "./Delay.js"
import type { ClientId, ShopId, TicketId } from "./Identifier.js"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"
import { Money, remaining } from "./Money.js"
import { Part, type PartRecord, partView } from "./Part.js"
import type { Phone } from "./Phone.js"
import { Quote, type QuoteRecord, quoteView } from "./Quote.js"
import type { ShopRecord } from "./Shop.js"
import type { TicketWindows } from "./TicketBounds.js"
import { AbandonReason, TicketState } from "./TicketLifecycle.js"
import { numberLabel } from "./TicketNumber.js"
import { trackingUrl } from "./TrackingCode.js"

/** Work on something brought in, or the preparation of an order (Specification, Requests and answers). */
export const TicketType = Schema.Literal("repair", "prepare").annotations({ identifier: "TicketType" })
export type TicketType = typeof TicketType.Type

const Outcome = Schema.Literal("ready", "impossible").annotations({ identifier: "TicketOutcome" })

/** One of several things on a ticket (Specification, Resources). */
export const TicketItem = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  service: Schema.NullOr(Schema.String),
  price_minor: Schema.NullOr(Schema.Int),
  done: Schema.Boolean
}).annotations({ identifier: "TicketItem" })
export type TicketItem = typeof TicketItem.Type

const text = Schema.NullOr(Schema.String)
const instant = Schema.NullOr(Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } }))

/** A ticket as it is answered and as events carry it (Specification, Resources). */
export const Ticket = Schema.Struct({
  id: Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  number: Schema.NullOr(Schema.Int),
  number_label: text,
  state: TicketState,
  outcome: Schema.NullOr(Outcome).annotations({
    description: "Of a collected ticket: whether it was ready or not possible"
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
}).annotations({ identifier: "Ticket" })
export type Ticket = typeof Ticket.Type

/** How the client was told (Specification, Endpoints; States). */
export type NotifiedChannel = "app" | "sms" | "whatsapp" | "call"

/** A ticket as it is stored: what `ticketView` needs, and what the rules count from. */
export interface TicketRecord extends TicketWindows {
  readonly shop_id: ShopId
  readonly id: TicketId
  readonly number: number
  readonly state: TicketState
  readonly outcome: "ready" | "impossible" | null
  readonly type: TicketType
  readonly service: string
  readonly item: string | null
  readonly description: string | null
  readonly items: ReadonlyArray<TicketItem>
  readonly price_minor: number | null
  readonly deposit_minor: number | null
  readonly before_minor: number | null
  readonly quote: QuoteRecord | null
  readonly promised_at: Instant | null
  readonly delay: DelayRecord | null
  readonly part: PartRecord | null
  readonly client_id: ClientId | null
  readonly client_phone: Phone | null
  readonly tracking_code: string
  readonly photo_url: string | null
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly ready_at: Instant | null
  readonly collected_at: Instant | null
  readonly abandoned_at: Instant | null
  readonly abandon_reason: AbandonReason | null
  readonly notified_at: Instant | null
  /** How the client was last notified; null also where an older release noted it. */
  readonly notified_channel: NotifiedChannel | null
  readonly created_via: "app" | "api"
  readonly external_ref: string | null
  /** The place of the last change in the shop's order of changes; the sync follows it (Specification, Lists and sync). */
  readonly change_seq: number
  /** When the shop last did something with the ticket; what a client does leaves it (Specification, States). */
  readonly shop_changed_at: Instant
  /** The ticket has earned its stamps, be they none, once in its life (Specification, Clients and loyalty). */
  readonly stamps_earned: boolean
}

/** No such ticket in this shop (Specification, Endpoints). */
export class TicketNotFound extends Data.TaggedError("TicketNotFound")<{}> {
  override get message() {
    return "This shop has no such ticket"
  }
}

/**
 * The ticket as its shop sees it; `client` is null where the shop knows none or is blocked (Specification, Resources; Clients and loyalty).
 * `tracking_base_url` is that of the service's own pages, for a shop that has none.
 */
export const ticketView = (
  ticket: TicketRecord,
  shop: ShopRecord,
  client: Client | null,
  tracking_base_url: string | null = null
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
    remaining_minor: remaining(ticket.price_minor, ticket.deposit_minor),
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
