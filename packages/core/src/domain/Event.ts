import { Schema } from "effect"
import type { ClientBadge } from "./Client.js"
import { type EventType, eventTypes } from "./EventType.js"
import type { EventId, ShopId, TicketId } from "./Identifier.js"
import { type Instant, toIso } from "./Instant.js"
import type { NotifiedChannel, Quote, Ticket } from "./Ticket.js"
import type { AbandonReason, TicketState } from "./TicketLifecycle.js"

/** The version in every event (Specification, Versions). */
export const API_VERSION = "1"

/** The fields of `data`, by type (Specification, Webhooks). */
export interface EventData {
  readonly "ticket.created": { readonly ticket: Ticket }
  readonly "ticket.ready": { readonly ticket: Ticket }
  readonly "ticket.impossible": { readonly ticket: Ticket }
  readonly "ticket.reopened": { readonly ticket: Ticket; readonly from: TicketState }
  readonly "ticket.collected": { readonly ticket: Ticket }
  readonly "ticket.abandoned": { readonly ticket: Ticket; readonly reason: AbandonReason }
  readonly "client.notified": {
    readonly ticket: Ticket
    readonly channel: NotifiedChannel
    readonly notified_at: string
  }
  readonly "client.linked": { readonly ticket: Ticket; readonly client: ClientBadge }
  readonly "ticket.updated": { readonly ticket: Ticket; readonly changed: ReadonlyArray<keyof Ticket> }
  readonly "quote.proposed": { readonly ticket: Ticket; readonly quote: Quote }
  readonly "quote.accepted": { readonly ticket: Ticket; readonly quote: Quote }
  readonly "quote.refused": { readonly ticket: Ticket; readonly quote: Quote }
  readonly ping: {}
}

/** An event as it is stored. `body` is the signed text that is sent, frozen when the event commits (Specification, Webhooks). */
export interface EventRecord {
  /** The shop of the event. */
  readonly shop_id: ShopId
  /** The event's id, the same at each delivery. */
  readonly id: EventId
  /** The type of the event. */
  readonly type: EventType
  /** The event's position in the shop's order of events. */
  readonly seq: number
  /** The event's ticket; null for a ping. */
  readonly ticket_id: TicketId | null
  /** When it was raised, in milliseconds since 1970. */
  readonly created_at: Instant
  /** The signed text that is sent. */
  readonly body: string
}

const literals = Object.keys(eventTypes) as [EventType, ...Array<EventType>]

/** The envelope of every event (Specification, Resources). */
export const Event = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal(...literals),
  created_at: Schema.String,
  api_version: Schema.String,
  shop_id: Schema.String,
  data: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "Event" })
/** An event in the form of its JSON, before its `type` is known. `data` depends on the type. */
export type Event = typeof Event.Type

/** The text of an event (Specification, Webhooks). */
export const eventBody = <T extends EventType>(
  id: EventId,
  type: T,
  created_at: Instant,
  shop_id: ShopId,
  data: EventData[T]
): string => JSON.stringify({ id, type, created_at: toIso(created_at), api_version: API_VERSION, shop_id, data })
