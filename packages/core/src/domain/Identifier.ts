import { Schema } from "effect"
import { Limits } from "./Limits.js"
import { Text } from "./Text.js"

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * A UUID in lower case. Upper case is accepted and converted, so that an id has one spelling in maps, cursors and
 * fingerprints (Specification, Tickets).
 */
const Uuid = Schema.transform(
  Schema.String,
  Schema.String.pipe(Schema.pattern(pattern, { message: () => "must be a UUID", jsonSchema: { format: "uuid" } })),
  { strict: true, decode: (text) => text.trim().toLowerCase(), encode: (id) => id }
)

/** Whether a text is a UUID in its stored form. */
export const isUuid = (text: string): boolean => pattern.test(text)

/** Identifies a shop. */
export const ShopId = Uuid.pipe(Schema.brand("ShopId"))
/** The id of a shop: a UUID in lower case. */
export type ShopId = typeof ShopId.Type

/** Identifies a ticket of a shop. */
export const TicketId = Uuid.pipe(Schema.brand("TicketId"))
/** The id of a ticket: a UUID in lower case. */
export type TicketId = typeof TicketId.Type

/** Identifies a client account. It is the same in every shop that knows the client. */
export const ClientId = Uuid.pipe(Schema.brand("ClientId"))
/** The id of a client account: a UUID in lower case. */
export type ClientId = typeof ClientId.Type

/** Identifies an API key. It is not the key itself. A request with the key has this id as its `caller_id`. */
export const KeyId = Uuid.pipe(Schema.brand("KeyId"), Schema.brand("CallerId"))
/** The id of an API key: a UUID in lower case. It is also a {@link CallerId}. */
export type KeyId = typeof KeyId.Type

/** Identifies a caller within a shop: the id of their key, or an embedder's own text, such as `user-42`. */
export const CallerId = Text(Limits.caller_id_characters).pipe(Schema.brand("CallerId"))
/** The id of a caller: at most `Limits.caller_id_characters` characters. */
export type CallerId = typeof CallerId.Type

/** Identifies the offer of a ticket to a phone number. */
export const OfferId = Uuid.pipe(Schema.brand("OfferId"))
/** The id of an offer: a UUID in lower case. */
export type OfferId = typeof OfferId.Type

/** Identifies an event. A receiver recognises duplicates by it (Specification, Webhooks). */
export const EventId = Uuid.pipe(Schema.brand("EventId"))
/** The id of an event: a UUID in lower case. */
export type EventId = typeof EventId.Type
