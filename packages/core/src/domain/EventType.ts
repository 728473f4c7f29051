import { DAY_MS } from "./Instant.js"
import { Limits } from "./Limits.js"

/** The types of events, each with a description of when it is sent (Specification, Webhooks). */
export const eventTypes = {
  "ticket.created": "A ticket is created, in the app or through the API",
  "ticket.ready": "The ticket is ready",
  "ticket.impossible": "The ticket is marked not possible",
  "ticket.reopened": "The ticket goes back to the workshop",
  "ticket.collected": "The client picked up their item",
  "ticket.abandoned": `The ticket closed: ready and never collected, or left in the workshop without news, for ${Limits.closure_ms / DAY_MS} days`,
  "client.notified": "The client was notified in the app, by SMS, by WhatsApp or by a call",
  "client.linked": "A client is linked to the ticket",
  "ticket.updated": "The shop edits the ticket, announces a delay, records a part or adds a photo",
  "quote.proposed": "The shop proposes a new price",
  "quote.accepted": "The client accepts a new price",
  "quote.refused": "The client refuses a new price",
  ping: "The app's test button"
} as const satisfies Record<string, string>

/** The type of an event; receivers ignore those they do not know (Specification, Webhooks). */
export type EventType = keyof typeof eventTypes
