import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { changeShop } from "../../src/decisions/shopSettings.js"
import { AMIRA, HOUR, KARIM, NOBODYS_PHONE, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

const NOW = "2026-03-02T09:00:00.000Z"
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const create = (fields: Record<string, unknown> = {}, via: "app" | "api" = "api") =>
  createTicket(SHOP, ticketInput(fields), { via, foundWords: [] })

describe("Specification, Endpoints: POST /v1/tickets", () => {
  it("a ticket created with a service alone is a repair whose other fields are empty (Specification, Resources; Endpoints)", () => {
    const ticket = new TestShop().does(create())
    expect(ticket).toEqual({
      id: expect.stringMatching(UUID7),
      number: 1,
      number_label: "0001",
      state: "workshop",
      outcome: null,
      type: "repair",
      service: "Hem",
      item: null,
      description: null,
      items: [],
      money: {
        currency: "TND",
        decimals: 3,
        price_minor: null,
        deposit_minor: null,
        remaining_minor: null,
        before_minor: null
      },
      quote: null,
      promised_at: null,
      delay: null,
      part: null,
      client: null,
      client_phone: null,
      tracking_code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/),
      tracking_url: `https://track.example.com/${ticket.tracking_code}`,
      photo_url: null,
      created_at: NOW,
      updated_at: NOW,
      ready_at: null,
      collected_at: null,
      abandoned_at: null,
      abandon_reason: null,
      notified_at: null,
      created_via: "api",
      external_ref: null
    })
  })

  it("a new ticket has every given field unchanged (Specification, Endpoints)", () => {
    const ticket = new TestShop().does(
      create({
        type: "prepare",
        item: "Wedding dress",
        description: "Two fittings\nsilk",
        price_minor: 120_000,
        deposit_minor: 20_000,
        promised_at: "2026-03-09T18:00:00+01:00",
        external_ref: "POS-77",
        client_phone: "+216 20 999 999"
      })
    )
    expect(ticket).toMatchObject({
      type: "prepare",
      item: "Wedding dress",
      description: "Two fittings\nsilk",
      money: { price_minor: 120_000, deposit_minor: 20_000, remaining_minor: 100_000, before_minor: null },
      promised_at: "2026-03-09T17:00:00.000Z",
      external_ref: "POS-77",
      client_phone: "+21620999999",
      client: null
    })
  })

  it("a create raises ticket.created with the ticket of the response, and no other event (Specification, States; Webhooks)", () => {
    const shop = new TestShop()
    const ticket = shop.does(create())
    expect(shop.events).toMatchObject([{ type: "ticket.created", created_at: NOW, data: { ticket } }])
    expect(shop.rows("OfferPut")).toEqual([])
    expect(shop.rows("NotificationAppended")).toEqual([])
  })

  it("a ticket created in the app has created_via app (Specification, Resources)", () => {
    expect(new TestShop().does(create({}, "app")).created_via).toBe("app")
  })

  it("a ticket has no tracking_url if neither the shop nor the process has a tracking address (Specification, Tickets)", () => {
    expect(new TestShop({ tracking_base_url: null }).does(create()).tracking_url).toBeNull()
  })

  it("the creation of a ticket counts as its first news, and earns no stamps (Specification, States; Clients and loyalty)", () => {
    const shop = new TestShop()
    expect(shop.record(shop.create())).toMatchObject({ shop_changed_at: START, stamps_earned: false, change_seq: 1 })
  })

  it("each of several items has its own identifier, service and price, and is not done (Specification, Resources)", () => {
    const { items, money } = new TestShop().does(
      create({
        items: [
          { label: "Trousers", service: "Hem", price_minor: 8000 },
          { label: "Jacket" },
          { label: "Skirt", service: null, price_minor: 0 }
        ]
      })
    )
    expect(items).toEqual([
      { id: expect.stringMatching(UUID7), label: "Trousers", service: "Hem", price_minor: 8000, done: false },
      { id: expect.stringMatching(UUID7), label: "Jacket", service: null, price_minor: null, done: false },
      { id: expect.stringMatching(UUID7), label: "Skirt", service: null, price_minor: 0, done: false }
    ])
    expect(new Set(items.map(({ id }) => id)).size).toBe(3)
    expect(money.price_minor).toBeNull()
  })

  it("a ticket without a price has nothing remaining to pay, even with a deposit (Specification, Tickets)", () => {
    const { money } = new TestShop().does(create({ deposit_minor: 500 }))
    expect(money).toMatchObject({ price_minor: null, deposit_minor: 500, remaining_minor: null })
  })
})

describe("Specification, Resources: ticket numbers", () => {
  it("ticket numbers have no gaps, and each has a label of four digits (Specification, Tickets)", () => {
    const shop = new TestShop()
    const numbers = [1, 2, 3].map(() => shop.does(create()))
    expect(numbers.map(({ number }) => number)).toEqual([1, 2, 3])
    expect(numbers.map(({ number_label }) => number_label)).toEqual(["0001", "0002", "0003"])
  })

  it("the number 9999 is followed by 1 (Specification, Resources)", () => {
    const shop = new TestShop()
    shop.does(changeShop(SHOP, { next_number: 9998 } as never))
    const tickets = [1, 2, 3, 4].map(() => shop.does(create()))
    expect(tickets.map(({ number_label }) => number_label)).toEqual(["9998", "9999", "0001", "0002"])
  })

  it("a refused create uses up no number (Specification, Tickets)", () => {
    const shop = new TestShop({ forbidden_words: ["darn"] })
    shop.does(create())
    expect(shop.refuses(create({ item: "Darn" }))._tag).toBe("ForbiddenWord")
    expect(shop.refuses(create({ client_id: AMIRA.id }))._tag).toBe("ClientNotFound")
    expect(shop.does(create()).number).toBe(2)
  })

  it("tickets of the app and of the API share one numbering (Specification, Resources)", () => {
    const shop = new TestShop()
    expect([shop.does(create()).number, shop.does(create({}, "app")).number]).toEqual([1, 2])
  })
})

describe("Specification, Endpoints: the client of a new ticket", () => {
  it("a client known to the shop is linked at once, with ticket.created and then client.linked (Specification, Tickets)", () => {
    const shop = new TestShop()
    const client_id = shop.meets(AMIRA)
    const ticket = shop.wait(HOUR).does(create({ client_id }))
    expect(ticket.client).toEqual({ id: AMIRA.id, display_name: "Amira Ben Salah" })
    expect(shop.eventTypes).toEqual(["ticket.created", "client.linked"])
    expect(shop.events[0]!.data).toEqual({ ticket })
    expect(shop.events[1]!.data).toEqual({ ticket, client: { id: AMIRA.id, display_name: "Amira Ben Salah" } })
    const [created, linked] = shop.rows("EventRaised")
    expect(linked!.seq).toBe(created!.seq + 1)
    expect(linked!.id > created!.id).toBe(true)
    expect(shop.rows("OfferPut")).toEqual([])
    expect(shop.record(ticket.id).client_id).toBe(AMIRA.id)
  })

  it("the name of a client who hides it is abbreviated, in events too (Specification, Resources)", () => {
    const shop = new TestShop()
    shop.does(create({ client_id: shop.meets(KARIM) }))
    expect(shop.events[1]!.data.client).toEqual({ id: KARIM.id, display_name: "Karim T." })
    expect(JSON.stringify(shop.events)).not.toContain("Trabelsi")
  })

  it("a create with a phone number makes an offer and links no client (Specification, Endpoints)", () => {
    const shop = new TestShop()
    const ticket = shop.does(create({ client_phone: AMIRA.phone }))
    expect(ticket).toMatchObject({ client: null, client_phone: AMIRA.phone })
    expect(shop.eventTypes).toEqual(["ticket.created"])
    expect(shop.rows("OfferPut")).toEqual([
      {
        id: expect.stringMatching(UUID7),
        shop_id: SHOP,
        ticket_id: ticket.id,
        phone: AMIRA.phone,
        status: "open",
        created_at: START,
        answered_at: null
      }
    ])
  })

  it("a create with the phone number of a known client links no client (Specification, Endpoints)", () => {
    const shop = new TestShop()
    shop.meets(AMIRA)
    expect(shop.does(create({ client_phone: AMIRA.phone })).client).toBeNull()
  })

  it("the response and its events are the same whether or not the number has an account, or its holder blocks the shop (Specification, Endpoints)", () => {
    const outcome = (phone: string, prepare: (shop: TestShop) => void) => {
      const shop = new TestShop()
      shop.create({ client_phone: KARIM.phone })
      shop.create()
      prepare(shop)
      // Karim's block is another command, which draws entropy, so the comparison leaves out the drawn values.
      const ticket = shop.does(createTicket(SHOP, ticketInput({ client_phone: phone }), { via: "api", foundWords: [] }))
      const drawn = [ticket.id, ticket.tracking_code!, phone, ...shop.events.map(({ id }) => id)]
      const text = JSON.stringify([
        shop.last.result,
        shop.events,
        shop.last.limitStatuses,
        shop.last.changes.map((c) => c._tag)
      ])
      return drawn.reduce((all, part) => all.replaceAll(part, "drawn"), text)
    }
    const nobody = outcome(NOBODYS_PHONE, () => {})
    const account = outcome(AMIRA.phone, () => {})
    const known = outcome(AMIRA.phone, (shop) => void shop.meets(AMIRA))
    const blocking = outcome(KARIM.phone, (shop) => {
      const first = [...shop.slice.offers.keys()][0]!
      shop.does(answerOffer(SHOP, first, "blocked"))
    })
    for (const same of [account, known, blocking]) expect(same).toBe(nobody)
  })

  it("a create may have both a known client, who is linked, and a phone number, which makes an offer (Specification, Endpoints)", () => {
    const shop = new TestShop()
    const ticket = shop.does(create({ client_id: shop.meets(AMIRA), client_phone: KARIM.phone }))
    expect(ticket.client?.id).toBe(AMIRA.id)
    expect(shop.rows("OfferPut")).toMatchObject([{ phone: KARIM.phone, ticket_id: ticket.id }])
  })
})
