import { describe, expect, it } from "vitest"
import { closeTicket } from "../../src/decisions/changeStatus.js"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { editTicket } from "../../src/decisions/editTicket.js"
import { answerQuote, proposeQuote, type QuoteInput } from "../../src/decisions/quotes.js"
import type { ClientId } from "../../src/domain/Identifier.js"
import { AMIRA, DAY, HOUR, KARIM, NOBODY, SHOP, START, TestShop } from "./fixtures.js"

const propose = (id: string, price_minor: number, note?: string | null) =>
  proposeQuote(SHOP, id as never, { price_minor, ...(note === undefined ? {} : { note }) } as QuoteInput)
const answer = (id: string, status: "accepted" | "refused") => answerQuote(SHOP, id as never, status)

describe("Specification, Tickets: the shop proposes a new price", () => {
  it("a proposed quote waits for its answer without changing the price, and raises quote.proposed (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000, deposit_minor: 1000 })
    const ticket = shop.wait(HOUR).does(propose(id, 8000, "The lining too"))
    expect(ticket.quote).toEqual({
      status: "proposed",
      price_minor: 8000,
      note: "The lining too",
      proposed_at: "2026-03-02T10:00:00.000Z",
      answered_at: null
    })
    expect(ticket.money).toMatchObject({ price_minor: 5000, remaining_minor: 4000, before_minor: null })
    expect(shop.events).toMatchObject([{ type: "quote.proposed", data: { ticket, quote: ticket.quote } }])
    expect(shop.record(id)).toMatchObject({ shop_changed_at: START + HOUR, updated_at: START + HOUR })
  })

  it("a quote without a note has the note null (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create()
    expect(shop.does(propose(id, 8000)).quote?.note).toBeNull()
    expect(shop.does(propose(id, 8000, null)).quote?.note).toBeNull()
  })

  it("a quote below the deposit is refused, and one equal to it is accepted (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000, deposit_minor: 1000 })
    expect(shop.refuses(propose(id, 999))).toMatchObject({ _tag: "InvalidInput", issues: [{ field: "price_minor" }] })
    expect(shop.does(propose(id, 1000)).quote?.price_minor).toBe(1000)
  })

  it("a later proposal replaces the last one, whether open or answered (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000 })
    shop.does(propose(id, 8000))
    expect(shop.does(propose(id, 7000)).quote).toMatchObject({ status: "proposed", price_minor: 7000 })
    shop.does(answer(id, "refused"))
    expect(shop.does(propose(id, 6000)).quote).toMatchObject({ status: "proposed", answered_at: null })
    expect(shop.does(answer(id, "accepted")).money).toMatchObject({ price_minor: 6000, before_minor: 5000 })
  })

  it("a named client's answer does not find a ticket of another client, without a client, or of a shop that they block (Specification, Webhooks)", () => {
    const shop = new TestShop()
    const [ofAmira, withoutClient] = [
      shop.create({ client_id: shop.meets(AMIRA) }),
      shop.create({ client_phone: AMIRA.phone })
    ]
    const offer = shop.offer.id
    const by = (id: string, client: ClientId) => answerQuote(SHOP, id as never, "accepted", client)
    for (const id of [ofAmira, withoutClient]) shop.does(propose(id, 8000))
    expect(shop.refuses(by(ofAmira, shop.meets(KARIM)))._tag).toBe("TicketNotFound")
    expect(shop.refuses(by(withoutClient, AMIRA.id))._tag).toBe("TicketNotFound")
    expect(shop.does(by(ofAmira, AMIRA.id)).quote?.status).toBe("accepted")
    shop.does(propose(ofAmira, 9000))
    shop.does(answerOffer(SHOP, offer, "blocked"))
    expect(shop.refuses(by(ofAmira, AMIRA.id))._tag).toBe("TicketNotFound")
    expect(shop.does(answer(ofAmira, "accepted")).quote?.status).toBe("accepted")
  })

  it("a quote for an unknown ticket is not found (Specification, Endpoints)", () => {
    const shop = new TestShop()
    expect(shop.refuses(propose(NOBODY, 1))._tag).toBe("TicketNotFound")
    expect(shop.refuses(answer(NOBODY, "accepted"))._tag).toBe("TicketNotFound")
  })
})

describe("Specification, Webhooks: the client accepts a new price", () => {
  it("an accepted quote becomes the price, the previous price is kept, and quote.accepted is raised (Specification, Webhooks; Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000, deposit_minor: 1000, client_id: shop.meets(AMIRA) })
    shop.does(propose(id, 8000))
    const ticket = shop.wait(HOUR).does(answer(id, "accepted"))
    expect(ticket.money).toMatchObject({
      price_minor: 8000,
      deposit_minor: 1000,
      remaining_minor: 7000,
      before_minor: 5000
    })
    expect(ticket.quote).toEqual({
      status: "accepted",
      price_minor: 8000,
      note: null,
      proposed_at: "2026-03-02T09:00:00.000Z",
      answered_at: "2026-03-02T10:00:00.000Z"
    })
    expect(shop.eventTypes).toEqual(["quote.accepted"])
    expect(shop.events[0]!.data).toEqual({ ticket, quote: ticket.quote })
  })

  it("before_minor is null if the ticket had no price (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.does(propose(id, 8000))
    expect(shop.does(answer(id, "accepted")).money).toMatchObject({ price_minor: 8000, before_minor: null })
  })

  it("before_minor is the price before the last accepted quote (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000 })
    for (const price of [6000, 7000]) {
      shop.does(propose(id, price))
      shop.does(answer(id, "accepted"))
    }
    expect(shop.record(id)).toMatchObject({ price_minor: 7000, before_minor: 6000 })
  })

  it("a deposit raised after the proposal cannot make an accepted price fall below it (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 10_000, deposit_minor: 1000 })
    shop.does(propose(id, 6000))
    const edit = (deposit_minor: number) => editTicket(SHOP, id, { deposit_minor } as never, [])
    expect(shop.refuses(edit(6001))).toMatchObject({ _tag: "InvalidInput", issues: [{ field: "deposit_minor" }] })
    shop.does(edit(6000))
    expect(shop.does(answer(id, "accepted")).money.remaining_minor).toBe(0)
  })

  it("a refused quote does not limit the deposit (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 10_000 })
    shop.does(propose(id, 6000))
    shop.does(answer(id, "refused"))
    expect(shop.does(editTicket(SHOP, id, { deposit_minor: 9000 } as never, [])).money.remaining_minor).toBe(1000)
  })
})

describe("Specification, Sandbox: a quote is answered once", () => {
  it("a refused quote leaves the price unchanged and raises quote.refused (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000 })
    shop.does(propose(id, 8000))
    const ticket = shop.wait(HOUR).does(answer(id, "refused"))
    expect(ticket.money).toMatchObject({ price_minor: 5000, before_minor: null })
    expect(ticket.quote).toMatchObject({ status: "refused", answered_at: "2026-03-02T10:00:00.000Z" })
    expect(shop.events).toMatchObject([{ type: "quote.refused", data: { ticket, quote: ticket.quote } }])
    expect(shop.record(id)).toMatchObject({ updated_at: START + HOUR, shop_changed_at: START })
  })

  it("a second answer to a quote is refused, after either first answer (Specification, Sandbox)", () => {
    for (const first of ["accepted", "refused"] as const) {
      const shop = new TestShop()
      const id = shop.create()
      shop.does(propose(id, 8000))
      shop.does(answer(id, first))
      for (const second of ["accepted", "refused"] as const) {
        expect(shop.refuses(answer(id, second))).toMatchObject({ _tag: "QuoteClosed", status: first })
      }
    }
  })

  it("an answer is refused if no quote was proposed (Specification, Sandbox)", () => {
    const shop = new TestShop()
    const id = shop.create()
    expect(shop.refuses(answer(id, "accepted"))).toMatchObject({ _tag: "QuoteClosed", status: null })
    expect(shop.refuses(answer(id, "refused"))).toMatchObject({ _tag: "QuoteClosed", status: null })
  })
})

describe("Specification, Idempotency: a quote is closed once the ticket is collected or abandoned", () => {
  const quoted = () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 5000 })
    shop.does(propose(id, 8000))
    return { shop, id }
  }
  const answersRefused = (shop: TestShop, id: string, state: string) => {
    for (const status of ["accepted", "refused"] as const)
      expect(shop.refuses(answer(id, status))).toMatchObject({ _tag: "QuoteClosed", status: "proposed", state })
  }

  it("after the collection a quote can neither be answered nor proposed again (Specification, Tickets)", () => {
    const { shop, id } = quoted()
    shop.moves(id, "ready", "collected")
    answersRefused(shop, id, "collected")
    expect(shop.refuses(propose(id, 7000))).toMatchObject({ _tag: "QuoteClosed", state: "collected" })
    expect(shop.record(id).price_minor).toBe(5000)
  })

  it("after the ticket is reopened its quote can be answered again (Specification, Idempotency)", () => {
    const { shop, id } = quoted()
    shop.moves(id, "ready", "collected", "workshop")
    expect(shop.does(answer(id, "accepted")).money.price_minor).toBe(8000)
  })

  it("the quote of an abandoned ticket cannot be answered (Specification, Tickets)", () => {
    const { shop, id } = quoted()
    shop.wait(60 * DAY).does(closeTicket(SHOP, id))
    answersRefused(shop, id, "abandoned")
  })
})
