import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ImportRow, importTickets, refuseIfChanged } from "../../src/decisions/importTickets.js"
import type { ClientId } from "../../src/domain/Identifier.js"
import { AMIRA, DAY, HOUR, KARIM, SHOP, START, TestShop } from "./fixtures.js"

const ISO = (at: number) => new Date(at).toISOString()
const checked = (row: object, client_id: ClientId | null = null) => ({
  row: Schema.decodeUnknownSync(ImportRow)({ external_ref: "A-1", service: "Hem", ...row }),
  client_id
})
const imported = (shop: TestShop, rows: ReadonlyArray<ReturnType<typeof checked>>, raises = false) =>
  shop.does(importTickets(SHOP, rows, { raises }))
const importOne = (row: object, client_id: ClientId | null = null) => {
  const shop = new TestShop()
  imported(shop, [checked(row, client_id)])
  return shop.rows("TicketPut")[0]!
}
const person = (card: object | null = null) => ({
  phone: AMIRA.phone,
  given_name: "Amira",
  family_name: "Ben Salah",
  card
})

describe("an imported ticket (Specification, Tickets)", () => {
  it("a row with a service alone becomes a repair that is in the workshop since the import", () => {
    expect(importOne({})).toEqual({
      shop_id: SHOP,
      id: expect.any(String),
      number: 1,
      state: "workshop",
      outcome: null,
      type: "repair",
      service: "Hem",
      item: null,
      description: null,
      items: [],
      price_minor: null,
      deposit_minor: null,
      before_minor: null,
      quote: null,
      promised_at: null,
      delay: null,
      part: null,
      client_id: null,
      client_phone: null,
      tracking_code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/),
      photo_url: null,
      created_at: START,
      updated_at: START,
      ready_at: null,
      collected_at: null,
      abandoned_at: null,
      abandon_reason: null,
      notified_at: null,
      notified_channel: null,
      created_via: "app",
      external_ref: "A-1",
      change_seq: 1,
      shop_changed_at: START,
      stamps_earned: false,
      moves_per_day: null,
      notifications_per_day: null,
      history: null
    })
  })

  it("an imported ticket keeps every given field", () => {
    const at = START - 9 * DAY
    const row = {
      number: 42,
      state: "collected",
      outcome: "impossible",
      type: "prepare",
      item: "Coat",
      description: "Red",
      items: [{ label: "Sleeve", service: "Cut", price_minor: 5, done: true }, { label: "Hat" }],
      price_minor: 900,
      deposit_minor: 100,
      before_minor: 800,
      quote: {
        status: "accepted",
        price_minor: 900,
        note: "More",
        proposed_at: ISO(at + 1),
        answered_at: ISO(at + 2)
      },
      promised_at: ISO(at + 3),
      delay: { previous_promised_at: ISO(at + 4), reason: "Late", announced_at: ISO(at + 5) },
      part: {
        label: "Zip",
        status: "received",
        ordered_at: ISO(at + 6),
        expected_at: ISO(at + 7),
        received_at: ISO(at + 8)
      },
      created_at: ISO(at),
      ready_at: ISO(at + 9),
      collected_at: ISO(at + 10),
      notified_at: ISO(at + 11),
      notified_channel: "whatsapp",
      created_via: "api",
      photo_url: "https://photo.example/1",
      client_phone: AMIRA.phone
    }
    const ticket = importOne(row)
    expect(ticket).toMatchObject({
      ...row,
      items: [
        { label: "Sleeve", service: "Cut", price_minor: 5, done: true },
        { label: "Hat", service: null, price_minor: null, done: false }
      ],
      quote: { ...row.quote, proposed_at: at + 1, answered_at: at + 2 },
      promised_at: at + 3,
      delay: { previous_promised_at: at + 4, reason: "Late", announced_at: at + 5 },
      part: { ...row.part, ordered_at: at + 6, expected_at: at + 7, received_at: at + 8 },
      created_at: at,
      ready_at: at + 9,
      collected_at: at + 10,
      notified_at: at + 11,
      stamps_earned: true
    })
    const ids = ticket.items.map(({ id }) => id)
    expect(new Set([...ids, ticket.id]).size).toBe(3)
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true)
    expect(ticket.id > ids[0]!).toBe(false)
  })

  it("fields that the row's quote, delay and part omit are null", () => {
    const ticket = importOne({
      quote: { status: "proposed", price_minor: 1, proposed_at: ISO(START) },
      delay: { announced_at: ISO(START) },
      part: { label: "Zip", status: "ordered", ordered_at: ISO(START) }
    })
    expect(ticket.quote).toEqual({
      status: "proposed",
      price_minor: 1,
      note: null,
      proposed_at: START,
      answered_at: null
    })
    expect(ticket.delay).toEqual({ previous_promised_at: null, reason: null, announced_at: START })
    expect(ticket.part).toEqual({
      label: "Zip",
      status: "ordered",
      ordered_at: START,
      expected_at: null,
      received_at: null
    })
  })

  it("the outcome, the reason of abandonment and the earned stamps follow from the state if the row omits them", () => {
    const created_at = ISO(START - DAY)
    const at = ISO(START - HOUR)
    const end = (row: object) => {
      const { outcome, abandon_reason, stamps_earned } = importOne({ created_at, ...row })
      return [outcome, abandon_reason, stamps_earned]
    }
    expect(end({ state: "ready", ready_at: at })).toEqual([null, null, true])
    expect(end({ state: "impossible" })).toEqual([null, null, false])
    expect(end({ state: "collected", collected_at: at })).toEqual(["ready", null, true])
    expect(end({ state: "abandoned", abandoned_at: at })).toEqual([null, "no_news", false])
    expect(end({ state: "abandoned", abandoned_at: at, ready_at: at })).toEqual([null, "uncollected", false])
    expect(end({ state: "abandoned", abandoned_at: at, ready_at: at, abandon_reason: "no_news" })[1]).toBe("no_news")
  })
})

describe("several imported tickets", () => {
  it("tickets without a number get the shop's next numbers, which continue after a higher given number", () => {
    const shop = new TestShop()
    expect(
      imported(
        shop,
        [{}, { number: 7 }, { number: null }, { number: 3 }, {}].map((row) => checked(row))
      )
    ).toEqual({
      tickets: 5,
      clients: 0,
      cards: 0,
      closing: 0
    })
    expect(shop.rows("TicketPut").map(({ number }) => number)).toEqual([1, 7, 8, 3, 9])
    expect(shop.slice.head.next_number).toBe(10)
    imported(shop, [checked({ number: 10 }), checked({}), checked({ number: 9999 }), checked({})])
    expect(shop.rows("TicketPut").map(({ number }) => number)).toEqual([10, 11, 9999, 1])
  })

  it("imported tickets have different codes, and identifiers in the order of their dates", () => {
    const shop = new TestShop()
    const created_at = ISO(START - DAY)
    imported(shop, [checked({ created_at }), checked({ created_at }), checked({}), checked({})])
    const rows = shop.rows("TicketPut")
    expect(new Set(rows.map(({ id }) => id)).size).toBe(4)
    expect(new Set(rows.map(({ tracking_code }) => tracking_code)).size).toBe(4)
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).sort())
    for (const { id } of rows) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    // A code does not depend on the position of its ticket in an import.
    imported(shop, [checked({}), checked({})])
    const codes = [...rows, ...shop.rows("TicketPut")].map(({ tracking_code }) => tracking_code)
    expect(new Set(codes).size).toBe(6)
    expect(rows.map(({ id }) => Number.parseInt(id.replace("-", "").slice(0, 12), 16))).toEqual([
      START - DAY,
      START - DAY,
      START,
      START
    ])
    // The random bytes differ for past instants, so that these identifiers differ from those that the shop made then.
    expect(rows[0]!.id.slice(-12)).not.toBe(rows[2]!.id.slice(-12))
    expect(rows[0]!.id.slice(-12)).toBe(rows[1]!.id.slice(-12))
    expect(rows[0]!.id.slice(-12, -2)).toBe(rows[2]!.id.slice(-12, -2))
  })

  it("an import raises ticket.created with the option events, and no event without it", () => {
    const shop = new TestShop()
    imported(shop, [checked({}), checked({})])
    expect(shop.events).toEqual([])
    imported(shop, [checked({}), checked({ external_ref: "B" })], true)
    expect(shop.events).toMatchObject([
      { type: "ticket.created", data: { ticket: { external_ref: "A-1", number: 3 } } },
      { type: "ticket.created", data: { ticket: { external_ref: "B", number: 4 } } }
    ])
  })

  it("the report counts the tickets whose closure is due already", () => {
    const ready = (at: number) => checked({ state: "ready", created_at: ISO(at), ready_at: ISO(at) })
    const shop = new TestShop()
    expect(
      imported(shop, [ready(START - 60 * DAY), ready(START - 60 * DAY + 1), checked({ state: "impossible" })])
    ).toMatchObject({
      tickets: 3,
      closing: 1
    })
  })
})

describe("the clients of an import (Specification, Clients and loyalty)", () => {
  it("an import makes each client known once, and their tickets show them", () => {
    const shop = new TestShop()
    const rows = [
      checked({ client: person() }, AMIRA.id),
      checked({}, AMIRA.id),
      checked({}),
      checked({ service: null, client: person() }, KARIM.id)
    ]
    expect(imported(shop, rows, true)).toEqual({ tickets: 3, clients: 2, cards: 0, closing: 0 })
    expect(shop.rows("LinkPut")).toEqual(
      [AMIRA.id, KARIM.id].map((client_id) => ({ shop_id: SHOP, client_id, known_at: START, blocked_at: null }))
    )
    const amira = { id: AMIRA.id, display_name: "Amira Ben Salah" }
    expect(shop.events.map(({ data }) => data.ticket?.client)).toEqual([amira, amira, null])
    expect(shop.rows("TicketPut").map(({ client_id }) => client_id)).toEqual([AMIRA.id, AMIRA.id, null])
  })

  it("an import does not change a known client, and does not show a client who blocks the shop", () => {
    const shop = new TestShop()
    shop.meets(AMIRA)
    shop.slice.links.set(KARIM.id, { shop_id: SHOP, client_id: KARIM.id, known_at: null, blocked_at: START })
    shop.wait(HOUR)
    expect(imported(shop, [checked({}, AMIRA.id), checked({}, KARIM.id)], true).clients).toBe(1)
    expect(shop.rows("LinkPut")).toEqual([
      { shop_id: SHOP, client_id: KARIM.id, known_at: START + HOUR, blocked_at: START }
    ])
    expect(shop.events.map(({ data }) => data.ticket?.client?.id ?? null)).toEqual([AMIRA.id, null])
    expect(imported(shop, [checked({}, AMIRA.id)], true).clients).toBe(0)
    expect(shop.events[0]!.data.ticket?.client?.id).toBe(AMIRA.id)
  })

  const ledgerOf = (card: object) => {
    const shop = new TestShop()
    const { cards } = imported(shop, [checked({ service: null, client: person(card) }, AMIRA.id)])
    const lines = shop.rows("LedgerAppended").map(({ kind, stamps, ticket_id, caller_id }) => {
      expect([ticket_id, caller_id]).toEqual([null, null])
      return [kind, stamps]
    })
    return { cards, lines, card: shop.slice.cards.get(AMIRA.id) }
  }

  it("an imported card is written as ledger lines that add up to it", () => {
    expect(ledgerOf({ balance: 2 })).toMatchObject({
      cards: 1,
      lines: [["stamps", 2]],
      card: { balance: 2, lifetime: 2 }
    })
    expect(ledgerOf({ balance: 2, lifetime: 12, rewards_redeemed: 3 })).toMatchObject({
      lines: [
        ["stamps", 12],
        ["redeem", -3],
        ["redeem", -3],
        ["redeem", -4]
      ],
      card: { balance: 2, lifetime: 12, rewards_redeemed: 3 }
    })
    expect(ledgerOf({ balance: 0 })).toMatchObject({ cards: 1, lines: [], card: undefined })
    expect(ledgerOf({ balance: 1, lifetime: null, rewards_redeemed: null }).lines).toEqual([["stamps", 1]])
  })

  it("an import does not change a card that the shop has, or that an earlier row gave", () => {
    const shop = new TestShop()
    const row = (balance: number) => checked({ client: person({ balance }) }, AMIRA.id)
    expect(imported(shop, [row(2), row(3)]).cards).toBe(1)
    expect(shop.slice.cards.get(AMIRA.id)?.balance).toBe(2)
    expect(imported(shop, [row(4)]).cards).toBe(0)
    expect(shop.slice.cards.get(AMIRA.id)?.balance).toBe(2)
  })
})

describe("rows whose references were looked up before their command (docs/import.md)", () => {
  const command = importTickets(SHOP, [checked({})], { raises: false })

  it("rows are written if no ticket of the shop has changed since the look-up of their references", () => {
    const shop = new TestShop()
    expect(shop.does(refuseIfChanged(command, shop.slice.head.change_seq))).toMatchObject({ tickets: 1 })
  })

  it("rows are not written if a ticket of the shop has changed since the look-up, and the result reports this", () => {
    const shop = new TestShop()
    const { change_seq } = shop.slice.head
    shop.does(command)
    expect(shop.does(refuseIfChanged(command, change_seq))).toBeNull()
    expect(shop.rows("TicketPut")).toEqual([])
  })
})
