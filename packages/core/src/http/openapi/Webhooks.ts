import { Schema } from "effect"
import { ClientBadge } from "../../domain/Client.js"
import { API_VERSION, type EventData, eventBody } from "../../domain/Event.js"
import { type EventType, eventTypes } from "../../domain/EventType.js"
import type { EventId, ShopId } from "../../domain/Identifier.js"
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../domain/Instant.js"
import { Limits } from "../../domain/Limits.js"
import { Quote, Ticket } from "../../domain/Ticket.js"
import { AbandonReason, TicketState } from "../../domain/TicketLifecycle.js"
import * as Sample from "./Samples.js"

const makeTextSchema = (format: "date-time" | "uuid", description: string) =>
  Schema.String.annotations({ jsonSchema: { type: "string", format, description } })
const ticketData = Schema.Struct({ ticket: Ticket }).annotations({ identifier: "TicketData" })
const quoteData = Schema.Struct({ ticket: Ticket, quote: Quote }).annotations({ identifier: "QuoteData" })
const NotifiedChannel = Schema.Literal("app", "sms", "whatsapp", "call").annotations({
  identifier: "NotifiedChannel",
  description: "How the client was notified"
})

/** The schemas of `data` by type of event. The compiler checks that each matches the data that the service raises. */
const dataSchemas: { readonly [T in EventType]: Schema.Schema<EventData[T]> } = {
  "ticket.created": ticketData,
  "ticket.ready": ticketData,
  "ticket.impossible": ticketData,
  "ticket.reopened": Schema.Struct({
    ticket: Ticket,
    from: TicketState.annotations({ description: "The state before the move" })
  }),
  "ticket.collected": ticketData,
  "ticket.abandoned": Schema.Struct({
    ticket: Ticket,
    reason: AbandonReason.annotations({ description: "Why the service closed the ticket" })
  }),
  "client.notified": Schema.Struct({
    ticket: Ticket,
    channel: NotifiedChannel,
    notified_at: makeTextSchema("date-time", "When the client was notified")
  }),
  "client.linked": Schema.Struct({ ticket: Ticket, client: ClientBadge }),
  "ticket.updated": Schema.Struct({
    ticket: Ticket,
    changed: Schema.Array(Schema.keyof(Ticket)).annotations({
      description: "The fields of the ticket that changed"
    })
  }),
  "quote.proposed": quoteData,
  "quote.accepted": quoteData,
  "quote.refused": quoteData,
  ping: Schema.Struct({}).annotations({ jsonSchema: { type: "object", description: "An empty object" } })
}

const samples: { readonly [T in EventType]: EventData[T] } = {
  "ticket.created": { ticket: Sample.workshopTicket },
  "ticket.ready": { ticket: Sample.readyTicket },
  "ticket.impossible": { ticket: Sample.impossibleTicket },
  "ticket.reopened": { ticket: Sample.reopenedTicket, from: "collected" },
  "ticket.collected": { ticket: Sample.collectedTicket },
  "ticket.abandoned": { ticket: Sample.abandonedTicket, reason: "uncollected" },
  "client.notified": {
    ticket: Sample.notifiedTicket,
    channel: "call",
    notified_at: Sample.notifiedTicket.notified_at ?? ""
  },
  "client.linked": { ticket: Sample.workshopTicket, client: Sample.badge },
  "ticket.updated": { ticket: Sample.delayedTicket, changed: ["promised_at", "delay"] },
  "quote.proposed": { ticket: Sample.quotedTicket, quote: Sample.quotedTicket.quote },
  "quote.accepted": { ticket: Sample.requoted, quote: Sample.requoted.quote },
  "quote.refused": { ticket: Sample.refusedQuoteTicket, quote: Sample.refusedQuoteTicket.quote },
  ping: {}
}

/** The name of the schema of a type of event. */
export const eventName = (type: EventType): string =>
  `${type.replace(/(^|\.)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())}Event`

const types = Object.keys(eventTypes) as ReadonlyArray<EventType>

/** The event of one type, as a schema with a name. */
export const eventSchema = (type: EventType) =>
  Schema.Struct({
    id: makeTextSchema("uuid", "The event's id, the same at every attempt, so that a receiver can drop duplicates"),
    type: Schema.Literal(type).annotations({ description: eventTypes[type] }),
    created_at: makeTextSchema("date-time", "When the event happened"),
    api_version: Schema.Literal(API_VERSION).annotations({ description: "The version of this API" }),
    shop_id: makeTextSchema("uuid", "The shop in which the event happened"),
    data: (dataSchemas[type] as Schema.Schema<unknown>).annotations({ description: "The data of this type of event" })
  }).annotations({ identifier: eventName(type), description: eventTypes[type] })

/** The schema of every event, and the schema that several of them share. */
export const eventSchemas = [...types.map(eventSchema), ticketData]

/** Any event, distinguished by `type`. */
export const anyEvent = {
  description: "The body of a delivery. New types will be added, so respond 2xx to events with an unknown type",
  oneOf: types.map((type) => ({ $ref: `#/components/schemas/${eventName(type)}` })),
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(types.map((type) => [type, `#/components/schemas/${eventName(type)}`]))
  }
}

/** An example of an event of a type. */
export const eventExample = (type: EventType): unknown => {
  const data: { readonly ticket?: Ticket } = samples[type]
  const at = data.ticket?.updated_at ?? Sample.workshopTicket.created_at
  const id = "0198c5f2-8a10-7001-b3c1-5d2f9a7e4b60" as EventId
  return JSON.parse(eventBody(id, type, Date.parse(at), Sample.shop.id as ShopId, samples[type]))
}

const makeSignatureHeader = (name: string) => ({
  name,
  in: "header",
  required: true,
  description: `\`t\` is the time of sending in seconds. \`v1\` is the hexadecimal HMAC-SHA256 of \`t\`, a dot and the raw body, with the webhook's secret as the key. For ${Limits.secret_overlap_ms / HOUR_MS} hours after a change of the secret there are two \`v1\`. Accept either of them. Compare in constant time, and refuse a \`t\` that is more than ${Limits.webhook_tolerance_ms / MINUTE_MS} minutes from your clock`,
  schema: { type: "string", pattern: "^t=\\d+(,v1=[0-9a-f]{64}){1,2}$" },
  example: "t=1795165924,v1=3f1d5a0c9b7e24681357acbd0e2f4a6c8b9d1e3f5a7c9b0d2e4f6a8c0b1d3e5f"
})

const makeWebhook = (type: EventType, header: string) => ({
  post: {
    operationId: `on${eventName(type)}`,
    summary: eventTypes[type],
    description: `Respond 2xx within ${Limits.webhook_timeout_ms / SECOND_MS} seconds, and process the event afterwards. The same event may arrive twice.`,
    tags: ["Webhooks"],
    security: [],
    parameters: [makeSignatureHeader(header)],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${eventName(type)}` },
          examples: { [type]: { summary: eventTypes[type], value: eventExample(type) } }
        }
      }
    },
    responses: {
      "2XX": { description: "The receiver has the event. It will not be sent again" },
      410: { description: "The receiver no longer exists. The service turns the webhook off" },
      default: { description: "The receiver does not have the event. The service will send it again" }
    }
  }
})

/** The webhooks section: one entry for each type of event, signed in the header of this name. */
export const makeWebhooks = (header: string) =>
  Object.fromEntries(types.map((type) => [type, makeWebhook(type, header)]))
