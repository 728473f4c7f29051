import { Effect, Schema } from "effect"
import { actsOf, type Doing, idOf, needed, Reference } from "./Act.js"
import { dataOf } from "./Exchange.js"
import { NameUnknown } from "./Names.js"

interface Offer {
  readonly id: string
  readonly ticket_id: string
  readonly status: string
}

interface OfferChoice {
  readonly client: unknown
  readonly ticket?: unknown
}

const OfferChoice = Schema.Struct({
  client: Reference,
  ticket: Schema.optionalWith(Reference, { exact: true })
})

/** The offer that a client means: of the ticket where one is named, whatever became of it; else the newest open one. */
const chosen = Effect.fnUntraced(function* ({ client, ticket }: OfferChoice, doing: Doing) {
  const id = yield* idOf(client)
  const found = yield* needed(doing.sandbox("GET", `/clients/${id}/offers`), "the client's offers")
  const offers = (dataOf(found) ?? []) as ReadonlyArray<Offer>
  const ticket_id = ticket === undefined ? null : yield* idOf(ticket)
  const offer = offers.findLast((offer) =>
    ticket_id === null ? offer.status === "open" : offer.ticket_id === ticket_id
  )
  if (offer !== undefined) return offer.id
  const message = ticket_id === null ? "the client has no open offer" : "that ticket was never offered to the client"
  return yield* new NameUnknown({ message })
})

const answering = (answer: string) => (choice: OfferChoice, doing: Doing) =>
  Effect.flatMap(chosen(choice, doing), (id) => doing.sandbox("POST", `/offers/${id}/${answer}`, {}))

const answeringQuote = (answer: string) => (ticket: unknown, doing: Doing) =>
  Effect.flatMap(idOf(ticket), (id) => doing.sandbox("POST", `/tickets/${id}/quote/${answer}`, {}))

/** What clients do: come to the counter, answer offers and prices, read what they were told (Specification, Sandbox). */
export const clientActs = actsOf("client", [
  {
    name: "visit",
    endpoint: "POST /sandbox/clients/:id/visits",
    description: "The client comes to the shop's counter, and is known there from then on",
    takes: Reference,
    perform: (client, doing) =>
      Effect.flatMap(idOf(client), (id) => doing.sandbox("POST", `/clients/${id}/visits`, { shop_id: doing.shop.id }))
  },
  {
    name: "accept offer",
    endpoint: "POST /sandbox/offers/:id/accept",
    description: "The client accepts the newest ticket offered to them, or the one named",
    takes: OfferChoice,
    perform: answering("accept")
  },
  {
    name: "block shop",
    endpoint: "POST /sandbox/offers/:id/block",
    description: "The client answers the newest offer, or that of the ticket named, by blocking the shop",
    takes: OfferChoice,
    perform: answering("block")
  },
  {
    name: "get offers",
    endpoint: "GET /sandbox/clients/:id/offers",
    description: "What tickets the client was offered",
    takes: Reference,
    perform: (client, doing) => Effect.flatMap(idOf(client), (id) => doing.sandbox("GET", `/clients/${id}/offers`))
  },
  {
    name: "get inbox",
    endpoint: "GET /sandbox/clients/:id/inbox",
    description: "What the client was told in the app",
    takes: Reference,
    perform: (client, doing) => Effect.flatMap(idOf(client), (id) => doing.sandbox("GET", `/clients/${id}/inbox`))
  },
  {
    name: "accept quote",
    endpoint: "POST /sandbox/tickets/:id/quote/accept",
    description: "The client accepts the price proposed for a ticket",
    takes: Reference,
    perform: answeringQuote("accept")
  },
  {
    name: "refuse quote",
    endpoint: "POST /sandbox/tickets/:id/quote/refuse",
    description: "The client refuses the price proposed for a ticket",
    takes: Reference,
    perform: answeringQuote("refuse")
  }
])
