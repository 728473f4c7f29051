import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NOBODY, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 4 })
})
afterAll(() => service.close())

const MAX = 1_000_000_000_000
const many = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `Item ${i}` }))

/** Valid input, and the fields that the ticket then has; copied by hand from Specification, Tickets. */
const GOOD: ReadonlyArray<
  readonly [name: string, body: Readonly<Record<string, unknown>>, shows: Readonly<Record<string, unknown>>]
> = [
  ["a service of one character", { service: "a" }, { service: "a" }],
  ["a service of 120 characters", { service: "é".repeat(120) }, { service: "é".repeat(120) }],
  ["a service of 120 emoji, each one code point", { service: "😀".repeat(120) }, { service: "😀".repeat(120) }],
  [
    "a service of 60 letters with combining accents, each two code points",
    { service: "e\u0301".repeat(60) },
    { service: "e\u0301".repeat(60) }
  ],
  ["surrounding white space, which is trimmed", { service: " \t\n Hem \u00a0\u2003" }, { service: "Hem" }],
  [
    "white space beyond the length, which is trimmed first",
    { service: ` ${"a".repeat(120)} ` },
    { service: "a".repeat(120) }
  ],
  ["newline and tab within a text", { description: "a\n\tb" }, { description: "a\n\tb" }],
  ["joined emoji and right-to-left text", { item: "👩‍🔧 إصلاح" }, { item: "👩‍🔧 إصلاح" }],
  ["the type prepare", { type: "prepare" }, { type: "prepare" }],
  ["the type repair", { type: "repair" }, { type: "repair" }],
  ["an item of 200", { item: "x".repeat(200) }, { item: "x".repeat(200) }],
  ["a description of 2000 emoji", { description: "😀".repeat(2000) }, { description: "😀".repeat(2000) }],
  ["an external_ref of 64", { external_ref: "r".repeat(64) }, { external_ref: "r".repeat(64) }],
  [
    "null for every optional field, as absent",
    {
      type: null,
      item: null,
      description: null,
      items: null,
      client_id: null,
      client_phone: null,
      price_minor: null,
      deposit_minor: null,
      promised_at: null,
      external_ref: null
    },
    { type: "repair", item: null, items: [], client: null, client_phone: null, promised_at: null, external_ref: null }
  ],
  ["a price of 0", { price_minor: 0 }, { money: { price_minor: 0, deposit_minor: null, remaining_minor: 0 } }],
  ["a price of -0, which is 0", { price_minor: -0 }, { money: { price_minor: 0, remaining_minor: 0 } }],
  [
    "the highest price",
    { price_minor: MAX, deposit_minor: MAX },
    { money: { price_minor: MAX, deposit_minor: MAX, remaining_minor: 0 } }
  ],
  ["a deposit below the price", { price_minor: 2000, deposit_minor: 500 }, { money: { remaining_minor: 1500 } }],
  [
    "a deposit without a price",
    { deposit_minor: 500 },
    { money: { price_minor: null, deposit_minor: 500, remaining_minor: null } }
  ],
  ["a date with Z", { promised_at: "2026-11-30T18:00:00Z" }, { promised_at: "2026-11-30T18:00:00.000Z" }],
  [
    "a date with an offset",
    { promised_at: "2026-11-30T18:00:00.5+05:30" },
    { promised_at: "2026-11-30T12:30:00.500Z" }
  ],
  ["a leap day", { promised_at: "2028-02-29T00:00:00Z" }, { promised_at: "2028-02-29T00:00:00.000Z" }],
  ["a date in the past", { promised_at: "1999-12-31T23:59:59Z" }, { promised_at: "1999-12-31T23:59:59.000Z" }],
  [
    "a phone number, kept in E.164",
    { client_phone: " +216 20 123-456 " },
    { client_phone: "+21620123456", client: null }
  ],
  ["a French phone number", { client_phone: "+33 6 12 34 56 78" }, { client_phone: "+33612345678" }]
]

describe("POST /v1/tickets accepts (Specification, Endpoints; Tickets)", () => {
  for (const [name, body, shows] of GOOD) {
    it(`a create accepts ${name} (Specification, Endpoints; Tickets)`, async () => {
      const shop = await service.shop()
      const ticket = await shop.create({ service: "Hem", ...body })
      expect(ticket).toMatchObject(shows)
      expect(await shop.ticket(ticket.id)).toEqual(ticket)
    })
  }

  it("a create stores 2 to 20 items in the given order, each with a label and optional fields, and does not derive the price from them (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const items = [
      { label: "x".repeat(200), service: "y".repeat(120), price_minor: MAX },
      { label: "Right", service: null, price_minor: null },
      ...many(18)
    ]
    const ticket = await shop.create({ service: "Hem", items })
    expect(ticket.items.map(({ id: _, ...item }) => item)).toEqual(
      items.map((item) => ({ service: null, price_minor: null, ...item, done: false }))
    )
    expect(new Set(ticket.items.map(({ id }) => id)).size).toBe(20)
    expect(ticket.money).toMatchObject({ price_minor: null, remaining_minor: null })
    expect((await shop.create({ service: "Hem", items: many(2) })).items).toHaveLength(2)
  })

  it("a create with the id of a client whom the shop knows links the client, and raises ticket.created and then client.linked (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const badge = { id: client.id, display_name: "Amira Ben Salah" }
    const ticket = await shop.create({ service: "Hem", client_id: client.id.toUpperCase() })
    expect(ticket.client).toEqual(badge)
    expect((await shop.events()).map(({ type, data }) => [type, data])).toEqual([
      ["ticket.created", { ticket }],
      ["client.linked", { ticket, client: badge }]
    ])
  })
})

describe("ticket numbers (Specification, Resources; Tickets)", () => {
  it("the ticket number after 9999 is 1, and labels have four digits (Specification, Resources; Tickets)", async () => {
    const shop = await service.shop()
    await shop.change({ next_number: 9998 })
    const labels = []
    for (let i = 0; i < 4; i++) labels.push((await shop.create()).number_label)
    expect(labels).toEqual(["9998", "9999", "0001", "0002"])
  })

  it("a create that fails with any error uses up no ticket number (Specification, Tickets)", async () => {
    const shop = await service.shop()
    expect((await shop.create()).number).toBe(1)
    expect((await shop.tryCreate({ service: "" })).status).toBe(400)
    expect((await shop.tryCreate({ service: "Hem", client_id: NOBODY })).status).toBe(404)
    expect((await shop.tryCreate({ service: "fuck" })).status).toBe(422)
    expect((await shop.create()).number).toBe(2)
  })

  it("forty concurrent creates get forty consecutive numbers (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey()
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, i) => shop.create({ service: "Hem" }, i % 2 === 0 ? { key } : {}))
    )
    expect(created.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1)
    )
  })
})
