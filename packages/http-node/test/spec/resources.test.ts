import { Webhooks } from "@workshop/core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MINUTE, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 2 })
})
afterAll(() => service.close())

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

// The fields in the order of Specification, Resources.
const TICKET_FIELDS = [
  "id",
  "number",
  "number_label",
  "state",
  "outcome",
  "type",
  "service",
  "item",
  "description",
  "items",
  "money",
  "quote",
  "promised_at",
  "delay",
  "part",
  "client",
  "client_phone",
  "tracking_code",
  "tracking_url",
  "photo_url",
  "created_at",
  "updated_at",
  "ready_at",
  "collected_at",
  "abandoned_at",
  "abandon_reason",
  "notified_at",
  "created_via",
  "external_ref"
]

describe("the ticket (Specification, Resources)", () => {
  it("a ticket that was created with only a service has every field, with null or the default (Specification, Resources)", async () => {
    const shop = await service.shop()
    const ticket = await shop.create({ service: "Hem" })
    expect(Object.keys(ticket).sort()).toEqual([...TICKET_FIELDS].sort())
    expect(ticket).toEqual({
      id: expect.stringMatching(UUID_V7),
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
      tracking_url: null,
      photo_url: null,
      created_at: service.iso(),
      updated_at: service.iso(),
      ready_at: null,
      collected_at: null,
      abandoned_at: null,
      abandon_reason: null,
      notified_at: null,
      created_via: "api",
      external_ref: null
    })
  })

  it("a ticket that was created and changed with every field returns all of them, including nested fields (Specification, Resources; Tickets)", async () => {
    const shop = await service.shop({ tracking_base_url: "https://t.example/" })
    const client = await service.known(shop)
    const created_at = service.iso()
    const { id, tracking_code } = await shop.create({
      service: "Zip",
      type: "prepare",
      item: "Coat",
      description: "Blue zip",
      items: [{ label: "Left", service: "Sew", price_minor: 5 }, { label: "Right" }],
      client_id: client.id,
      client_phone: "+21620999888",
      price_minor: 2000,
      deposit_minor: 500,
      promised_at: "2026-11-30T18:00:00+01:00",
      external_ref: "POS-1"
    })
    service.clock.advance(MINUTE)
    await shop.quote(id, { price_minor: 2500, note: "A longer zip" })
    const proposed_at = service.iso()
    service.clock.advance(MINUTE)
    await shop.answerQuote(id, "accept")
    const answered_at = service.iso()
    await shop.delay(id, { promised_at: "2026-12-02T17:00:00Z", reason: "Late" })
    await shop.part(id, { label: "YKK 40", status: "ordered", expected_at: "2026-12-01T08:00:00Z" })
    await shop.photo(id, "https://p.example/1.jpg")
    expect(await shop.ticket(id)).toEqual({
      id,
      number: 1,
      number_label: "0001",
      state: "workshop",
      outcome: null,
      type: "prepare",
      service: "Zip",
      item: "Coat",
      description: "Blue zip",
      items: [
        { id: expect.stringMatching(/\S/), label: "Left", service: "Sew", price_minor: 5, done: false },
        { id: expect.stringMatching(/\S/), label: "Right", service: null, price_minor: null, done: false }
      ],
      money: {
        currency: "TND",
        decimals: 3,
        price_minor: 2500,
        deposit_minor: 500,
        remaining_minor: 2000,
        before_minor: 2000
      },
      quote: { status: "accepted", price_minor: 2500, note: "A longer zip", proposed_at, answered_at },
      promised_at: "2026-12-02T17:00:00.000Z",
      delay: { previous_promised_at: "2026-11-30T17:00:00.000Z", reason: "Late", announced_at: answered_at },
      part: {
        label: "YKK 40",
        status: "ordered",
        ordered_at: answered_at,
        expected_at: "2026-12-01T08:00:00.000Z",
        received_at: null
      },
      client: { id: client.id, display_name: "Amira Ben Salah" },
      client_phone: "+21620999888",
      tracking_code,
      tracking_url: `https://t.example/${tracking_code}`,
      photo_url: "https://p.example/1.jpg",
      created_at,
      updated_at: answered_at,
      ready_at: null,
      collected_at: null,
      abandoned_at: null,
      abandon_reason: null,
      notified_at: null,
      created_via: "api",
      external_ref: "POS-1"
    })
  })

  it("a ticket created in the app has created_via app and the next number of the shop's sequence (Specification, Resources)", async () => {
    const shop = await service.shop()
    await shop.create()
    const { data } = await shop.createInApp({ service: "Hem" })
    expect(await shop.ticket(data.id)).toMatchObject({ created_via: "app", number: 2, number_label: "0002" })
  })

  it("neither a proposed nor a refused quote changes the price (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create({ service: "Hem", price_minor: 100 })
    await shop.quote(id, { price_minor: 300 })
    const proposed = await shop.ticket(id)
    expect(proposed.quote).toEqual({
      status: "proposed",
      price_minor: 300,
      note: null,
      proposed_at: service.iso(),
      answered_at: null
    })
    expect(proposed.money).toMatchObject({ price_minor: 100, before_minor: null })
    await shop.answerQuote(id, "refuse")
    const refused = await shop.ticket(id)
    expect(refused.quote).toMatchObject({ status: "refused", answered_at: service.iso() })
    expect(refused.money).toMatchObject({ price_minor: 100, remaining_minor: 100, before_minor: null })
  })

  it("the tracking codes of a shop are all different (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const codes = new Set<unknown>()
    for (let i = 0; i < 25; i++) codes.add((await shop.create()).tracking_code)
    expect(codes.size).toBe(25)
  })
})

describe("the shop record and the event envelope (Specification, Resources)", () => {
  it("the shop record has id, name, currency, decimals, time_zone and the key's scopes (Specification, Keys and scopes)", async () => {
    const shop = await service.shop({ name: "Atelier Ünï", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
    const { key } = await shop.newKey(["clients:read", "tickets:read"])
    const { data } = await shop.get("/v1/shop", "", { key })
    expect(data).toEqual({
      id: shop.id,
      name: "Atelier Ünï",
      currency: "EUR",
      decimals: 2,
      time_zone: "Europe/Paris",
      scopes: ["clients:read", "tickets:read"]
    })
    expect((await shop.create()).money).toMatchObject({ currency: "EUR", decimals: 2 })
  })

  it("an event has id, type, created_at, api_version 1, shop_id and data, and the data of a ping is empty (Specification, Resources; Webhooks)", async () => {
    const shop = await service.shop()
    await service.act(Effect.flatMap(Webhooks, (webhooks) => webhooks.ping(shop.id)))
    const ticket = await shop.create()
    expect(await shop.events()).toEqual([
      {
        id: expect.stringMatching(UUID_V7),
        type: "ping",
        created_at: service.iso(),
        api_version: "1",
        shop_id: shop.id,
        data: {}
      },
      {
        id: expect.stringMatching(UUID_V7),
        type: "ticket.created",
        created_at: expect.stringMatching(INSTANT),
        api_version: "1",
        shop_id: shop.id,
        data: { ticket }
      }
    ])
  })
})
