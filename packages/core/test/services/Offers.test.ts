import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import type { ClientId, OfferId } from "../../src/domain/Identifier.js"
import { DAY_MS } from "../../src/domain/Instant.js"
import { Closer } from "../../src/services/background/Closer.js"
import { Clients } from "../../src/services/Clients.js"
import { Offers } from "../../src/services/Offers.js"
import { Quotes } from "../../src/services/Quotes.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import { inWorkshop, openClient, openShop, query, quote, refusalOf, regular, ticketId } from "./WorkshopFixture.js"

const PHONE = "+21620123456"

const offered = Effect.fnUntraced(function* () {
  const caller = yield* openShop()
  const { id } = yield* openClient(PHONE)
  const { data } = yield* (yield* Tickets).create(caller, ticketInput({ service: "Hem", client_phone: PHONE }))
  const [offer] = yield* (yield* Offers).ofClient(id)
  return { caller, id, ticket: ticketId(data), offer: offer! }
})

describe("Specification, Endpoints: the ticket is offered to the account holding client_phone", () => {
  it(
    "an offer links no client automatically",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id, ticket, offer } = yield* offered()
        expect(offer).toMatchObject({ shop_id: caller.shop_id, ticket_id: ticket, status: "open" })
        expect((yield* (yield* Tickets).byId(caller, ticket)).client).toBeNull()
        expect(yield* refusalOf((yield* Clients).byId(caller, id))).toBe("ClientNotFound")
      })
    )
  )

  it(
    "accepting an offer makes the client known to the shop, links them to the ticket and raises client.linked",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { caller, id, ticket, offer } = yield* offered()
        clock.advance(1000)
        yield* (yield* Offers).accept(id, offer.id)
        const linked = yield* (yield* Tickets).byId(caller, ticket)
        expect(linked.client).toEqual({ id, display_name: "Amira Baccar" })
        expect(yield* (yield* Clients).byId(caller, id)).toMatchObject({ tickets_open: 1, tickets_total: 1 })
        const events = (yield* (yield* Webhooks).events(caller.shop_id)).map(({ body }) => JSON.parse(body))
        expect(events.map(({ type }) => type)).toEqual(["ticket.created", "client.linked"])
        expect(events[1].data).toEqual({ ticket: linked, client: linked.client })
        const page = yield* (yield* Tickets).list(caller, query({ updated_since: linked.updated_at }))
        expect(page.data.map(({ id }) => id)).toEqual([ticket])
      })
    )
  )

  it(
    "a second answer to an offer is refused as closed, after either first answer",
    inWorkshop(() =>
      Effect.gen(function* () {
        const offers = yield* Offers
        const { id, offer } = yield* offered()
        yield* offers.accept(id, offer.id)
        expect([yield* refusalOf(offers.accept(id, offer.id)), yield* refusalOf(offers.block(id, offer.id))]).toEqual([
          "OfferClosed",
          "OfferClosed"
        ])
      })
    )
  )

  it(
    "an answer of a client to whom the offer was not made is not found, and the offer stays open",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id, ticket, offer } = yield* offered()
        const [offers, quotes] = [yield* Offers, yield* Quotes]
        const { id: other } = yield* openClient("+21620999999")
        expect([
          yield* refusalOf(offers.accept(other, offer.id)),
          yield* refusalOf(offers.block(other, offer.id))
        ]).toEqual(["OfferNotFound", "OfferNotFound"])
        expect((yield* offers.ofClient(id)).map(({ status }) => status)).toEqual(["open"])

        yield* quotes.propose(caller, ticket, quote({ price_minor: 8000 }))
        expect(yield* refusalOf(quotes.accept(id, ticket))).toBe("TicketNotFound")
        yield* offers.accept(id, offer.id)
        expect([
          yield* refusalOf(quotes.accept(other, ticket)),
          yield* refusalOf(quotes.refuse(other, ticket))
        ]).toEqual(["TicketNotFound", "TicketNotFound"])
        expect((yield* quotes.accept(id, ticket)).money.price_minor).toBe(8000)
      })
    )
  )

  it(
    "if a client accepts an offer and blocks the shop at the same time, one of the two succeeds",
    inWorkshop(() =>
      Effect.gen(function* () {
        const offers = yield* Offers
        const { id, offer } = yield* offered()
        const answers = yield* Effect.all(
          [offers.accept, offers.block, offers.accept, offers.block].map((result) =>
            Effect.either(result(id, offer.id))
          ),
          { concurrency: "unbounded" }
        )
        expect(answers.filter(Either.isRight)).toHaveLength(1)
      })
    )
  )

  it(
    "blocking the shop closes its other open offers, and those that it makes later",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id, offer } = yield* offered()
        const [offers, tickets] = [yield* Offers, yield* Tickets]
        yield* tickets.create(caller, ticketInput({ service: "Zip", client_phone: PHONE }))
        const second = (yield* offers.ofClient(id))[1]!
        yield* offers.block(id, offer.id)
        yield* tickets.create(caller, ticketInput({ service: "Zip", client_phone: PHONE }))
        expect((yield* offers.ofClient(id)).map(({ status }) => status)).toEqual(["blocked"])
        expect(yield* refusalOf(offers.accept(id, second.id))).toBe("OfferClosed")
      })
    )
  )

  it(
    "a ticket that has a client keeps that client, and a second client who accepts its offer becomes known",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const first = yield* regular(caller, "+21620999999")
        const { id } = yield* openClient(PHONE)
        const input = ticketInput({ service: "Hem", client_id: first, client_phone: PHONE })
        const { data } = yield* (yield* Tickets).create(caller, input)
        const [offer] = yield* (yield* Offers).ofClient(id)
        yield* (yield* Offers).accept(id, offer!.id)
        expect((yield* (yield* Tickets).byId(caller, ticketId(data))).client?.id).toBe(first)
        expect(yield* (yield* Clients).byId(caller, id)).toMatchObject({ tickets_total: 0 })
      })
    )
  )

  it(
    "an act of the client does not count as news from the shop, and does not postpone the closure",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { caller, id, ticket, offer } = yield* offered()
        clock.advance(59 * DAY_MS)
        yield* (yield* Offers).accept(id, offer.id)
        clock.advance(DAY_MS)
        expect(yield* (yield* Closer).runOnce).toBe(1)
        expect((yield* (yield* Tickets).byId(caller, ticket)).abandon_reason).toBe("no_news")
      })
    )
  )

  it(
    "an unknown offer or client is not found",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const offers = yield* Offers
        const { id } = yield* openClient(PHONE)
        expect(yield* refusalOf(offers.accept(id, caller.caller_id as unknown as OfferId))).toBe("OfferNotFound")
        expect(yield* refusalOf(offers.ofClient(caller.caller_id as unknown as ClientId))).toBe("ClientNotFound")
        expect(yield* refusalOf((yield* Clients).inbox(caller.caller_id as unknown as ClientId))).toBe("ClientNotFound")
      })
    )
  )
})
