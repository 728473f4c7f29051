import { describe, expect, it } from "vitest"
import { closeTicket } from "../../src/decisions/changeStatus.js"
import { answerOffer, recordVisit } from "../../src/decisions/clientLink.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import type { ClientId, OfferId } from "../../src/domain/Identifier.js"
import type { Phone } from "../../src/domain/Phone.js"
import { AMIRA, DAY, HOUR, KARIM, NOBODY, NOBODYS_PHONE, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

const offered = (shop: TestShop, phone: Phone = AMIRA.phone) => {
  const ticket = shop.create({ client_phone: phone })
  return { ticket, offer: shop.offer.id }
}

const wanted = (client_id: string) => createTicket(SHOP, ticketInput({ client_id }), { via: "api", foundWords: [] })

describe("Specification, Endpoints: the account accepts the offer", () => {
  it("accepting an offer makes the client known and links them to the ticket, with client.linked (Specification, Endpoints; Webhooks)", () => {
    const shop = new TestShop()
    const { ticket, offer } = offered(shop)
    const { change_seq } = shop.record(ticket)
    shop.wait(HOUR).does(answerOffer(SHOP, offer, "accepted"))

    expect(shop.slice.offers.get(offer)).toMatchObject({ status: "accepted", answered_at: START + HOUR })
    expect(shop.slice.links.get(AMIRA.id)).toEqual({
      shop_id: SHOP,
      client_id: AMIRA.id,
      known_at: START + HOUR,
      blocked_at: null
    })
    expect(shop.record(ticket)).toMatchObject({
      client_id: AMIRA.id,
      updated_at: START + HOUR,
      shop_changed_at: START,
      change_seq: change_seq + 1,
      notified_at: null
    })
    expect(shop.eventTypes).toEqual(["client.linked"])
    const client = { id: AMIRA.id, display_name: "Amira Ben Salah" }
    expect(shop.events[0]!.data).toMatchObject({ client, ticket: { id: ticket, client, client_phone: AMIRA.phone } })
  })

  it("a client who accepted an offer can be named in a new ticket (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    expect(shop.refuses(wanted(AMIRA.id))._tag).toBe("ClientNotFound")
    shop.does(answerOffer(SHOP, offered(shop).offer, "accepted"))
    expect(shop.does(wanted(AMIRA.id)).client?.id).toBe(AMIRA.id)
  })

  it("accepting an offer of a ticket that has a client makes the second client known, but does not link them (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const ticket = shop.create({ client_id: shop.meets(KARIM), client_phone: AMIRA.phone })
    const before = shop.record(ticket)
    shop.does(answerOffer(SHOP, shop.rows("OfferPut")[0]!.id, "accepted"))
    expect(shop.events).toEqual([])
    expect(shop.record(ticket)).toEqual(before)
    expect(shop.slice.links.get(AMIRA.id)?.known_at).toBe(START)
  })

  it("a ticket whose client has blocked the shop is linked to the next client who accepts it (Specification, Tickets)", () => {
    const shop = new TestShop()
    const ticket = shop.create({ client_id: shop.meets(KARIM), client_phone: AMIRA.phone })
    const amiras = shop.rows("OfferPut")[0]!.id
    shop.does(answerOffer(SHOP, offered(shop, KARIM.phone).offer, "blocked"))
    shop.does(answerOffer(SHOP, amiras, "accepted"))
    const client = { id: AMIRA.id, display_name: "Amira Ben Salah" }
    expect(shop.record(ticket).client_id).toBe(AMIRA.id)
    expect(shop.eventTypes).toEqual(["client.linked"])
    expect(shop.events[0]!.data).toMatchObject({ client, ticket: { id: ticket, client } })
  })

  it("accepting an offer of an abandoned ticket makes the client known, links no client and raises no event (Specification, Tickets)", () => {
    const shop = new TestShop()
    const { ticket, offer } = offered(shop)
    shop.wait(60 * DAY).does(closeTicket(SHOP, ticket))
    const before = shop.record(ticket)
    shop.does(answerOffer(SHOP, offer, "accepted"))
    expect(shop.record(ticket)).toEqual(before)
    expect(shop.events).toEqual([])
    expect(shop.slice.links.get(AMIRA.id)?.known_at).toBe(START + 60 * DAY)
  })

  it("no offer is made to the account that is linked already (Specification, Tickets)", () => {
    const shop = new TestShop()
    shop.create({ client_id: shop.meets(AMIRA), client_phone: AMIRA.phone })
    expect(shop.rows("OfferPut")).toEqual([])
    shop.create({ client_id: AMIRA.id, client_phone: NOBODYS_PHONE })
    expect(shop.rows("OfferPut")).toHaveLength(1)
  })

  it("a client who was known before keeps the day on which they became known (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    shop.meets(AMIRA)
    shop.wait(HOUR).does(answerOffer(SHOP, offered(shop).offer, "accepted"))
    expect(shop.slice.links.get(AMIRA.id)?.known_at).toBe(START)
    expect(shop.eventTypes).toEqual(["client.linked"])
  })

  it("accepting an offer sends no notification of a ticket that was ready before (Specification, States)", () => {
    const shop = new TestShop()
    const { ticket, offer } = offered(shop)
    shop.moves(ticket, "ready")
    shop.does(answerOffer(SHOP, offer, "accepted"))
    expect(shop.eventTypes).toEqual(["client.linked"])
    expect(shop.rows("NotificationAppended")).toEqual([])
    shop.moves(ticket, "workshop", "ready")
    expect(shop.rows("NotificationAppended")).toHaveLength(1)
  })
})

describe("Specification, Endpoints: the account blocks the shop", () => {
  it("blocking the shop answers the offer, links no client and raises no event (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const { ticket, offer } = offered(shop)
    const before = shop.record(ticket)
    shop.wait(HOUR).does(answerOffer(SHOP, offer, "blocked"))
    expect(shop.slice.offers.get(offer)).toMatchObject({ status: "blocked", answered_at: START + HOUR })
    expect(shop.slice.links.get(AMIRA.id)).toMatchObject({ known_at: null, blocked_at: START + HOUR })
    expect(shop.events).toEqual([])
    expect(shop.record(ticket)).toEqual(before)
    expect(shop.refuses(wanted(AMIRA.id))._tag).toBe("ClientNotFound")
  })

  it("a client who was known and then blocks is not visible (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const linked = shop.create({ client_id: shop.meets(AMIRA) })
    shop.does(answerOffer(SHOP, offered(shop).offer, "blocked"))
    expect(shop.refuses(wanted(AMIRA.id))._tag).toBe("ClientNotFound")
    shop.moves(linked, "ready")
    expect(shop.last.result).toMatchObject({ client: null, notified_at: null })
    expect(shop.eventTypes).toEqual(["ticket.ready"])
  })

  it("a later visit does not lift a client's block (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    shop.does(answerOffer(SHOP, offered(shop).offer, "blocked"))
    const link = shop.slice.links.get(AMIRA.id)
    shop.wait(HOUR).does(recordVisit(SHOP, AMIRA.id))
    expect(shop.last.changes).toEqual([])
    expect(shop.slice.links.get(AMIRA.id)).toEqual(link)
    expect(shop.refuses(wanted(AMIRA.id))._tag).toBe("ClientNotFound")
  })

  it("blocking a shop closes all its offers to the client, earlier and later ones (Specification, Sandbox)", () => {
    const shop = new TestShop()
    const earlier = offered(shop).offer
    shop.does(answerOffer(SHOP, offered(shop).offer, "blocked"))
    const later = offered(shop).offer
    for (const offer of [earlier, later]) {
      expect(shop.refuses(answerOffer(SHOP, offer, "accepted"))._tag).toBe("OfferClosed")
      expect(shop.refuses(answerOffer(SHOP, offer, "blocked"))._tag).toBe("OfferClosed")
    }
  })

  it("the block of one client does not affect the offers of another (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const karims = offered(shop, KARIM.phone)
    shop.does(answerOffer(SHOP, offered(shop).offer, "blocked"))
    shop.does(answerOffer(SHOP, karims.offer, "accepted"))
    expect(shop.record(karims.ticket).client_id).toBe(KARIM.id)
  })
})

describe("Specification, Sandbox: an offer is answered once", () => {
  for (const first of ["accepted", "blocked"] as const) {
    for (const second of ["accepted", "blocked"] as const) {
      it(`an offer that was ${first} cannot be ${second} after it (Specification, Sandbox)`, () => {
        const shop = new TestShop()
        const { offer } = offered(shop)
        shop.does(answerOffer(SHOP, offer, first))
        expect(shop.refuses(answerOffer(SHOP, offer, second))._tag).toBe("OfferClosed")
      })
    }
  }

  it("an offer to another client's number is not found if a client is named, and nothing changes (Specification, Endpoints)", () => {
    for (const status of ["accepted", "blocked"] as const) {
      const shop = new TestShop()
      const { offer } = offered(shop)
      for (const other of [KARIM.id, NOBODY as ClientId])
        expect(shop.refuses(answerOffer(SHOP, offer, status, other))._tag).toBe("OfferNotFound")
      shop.does(answerOffer(SHOP, offer, status, AMIRA.id))
      expect(shop.refuses(answerOffer(SHOP, offer, status, KARIM.id))._tag).toBe("OfferNotFound")
    }
  })

  it("an unknown offer, and an offer to a phone number without an account, are not found (Specification, Sandbox)", () => {
    const shop = new TestShop()
    expect(shop.refuses(answerOffer(SHOP, NOBODY as OfferId, "accepted"))._tag).toBe("OfferNotFound")
    expect(shop.refuses(answerOffer(SHOP, offered(shop, NOBODYS_PHONE).offer, "accepted"))._tag).toBe("OfferNotFound")
  })
})

describe("Specification, Clients and loyalty: a visit to the counter", () => {
  it("a visit makes the client known once, and notifies no client (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    shop.does(recordVisit(SHOP, AMIRA.id))
    expect(shop.slice.links.get(AMIRA.id)).toEqual({
      shop_id: SHOP,
      client_id: AMIRA.id,
      known_at: START,
      blocked_at: null
    })
    expect(shop.events).toEqual([])
    shop.wait(HOUR).does(recordVisit(SHOP, AMIRA.id))
    expect(shop.slice.links.get(AMIRA.id)?.known_at).toBe(START)
  })

  it("a visit of an account that does not exist is refused (Specification, Clients and loyalty)", () => {
    expect(new TestShop().refuses(recordVisit(SHOP, NOBODY as never))._tag).toBe("ClientNotFound")
  })
})
