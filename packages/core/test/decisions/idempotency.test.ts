import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { giveStamps, redeemReward } from "../../src/decisions/giveStamps.js"
import { fingerprintOf, IdempotencyKey, makeIdempotent } from "../../src/decisions/Idempotency.js"
import type { FoundWord } from "../../src/domain/ForbiddenWord.js"
import { AMIRA, DAY, HOUR, KARIM, KEY, OTHER_KEY, PROGRAM, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

const THIRTY_DAYS = 2_592_000_000

const DARN: ReadonlyArray<FoundWord> = [{ field: "item", word: "Darn" }]

/** The command of the service that creates a ticket with an idempotency key. */
const create = (
  key: string,
  fields: Record<string, unknown> = {},
  { caller_id = KEY, found = [] as ReadonlyArray<FoundWord>, operation = "tickets.create" } = {}
) => {
  const request = ticketInput(fields)
  return makeIdempotent(
    { caller_id, operation, key: key as IdempotencyKey, request },
    createTicket(SHOP, request, { via: "api", foundWords: found })
  )
}

const stamps = (key: string, count: number, caller_id = KEY) =>
  makeIdempotent(
    { caller_id, operation: "loyalty.stamps", key: key as IdempotencyKey, request: { client_id: AMIRA.id, count } },
    giveStamps(SHOP, { client_id: AMIRA.id, caller_id, count: count as never })
  )

const redeem = (key: string) =>
  makeIdempotent(
    { caller_id: KEY, operation: "loyalty.redeem", key: key as IdempotencyKey, request: { client_id: AMIRA.id } },
    redeemReward(SHOP, { client_id: AMIRA.id, caller_id: KEY })
  )

describe("Specification, Endpoints: replays", () => {
  it("a repeated request returns the same ticket as a replay and changes nothing (Specification, Endpoints)", () => {
    const shop = new TestShop()
    const first = shop.does(create("a"))
    const replay = shop.wait(HOUR).does(create("a"))
    expect(first.replayed).toBe(false)
    expect(replay).toEqual({ data: first.data, replayed: true })
    expect(shop.last).toMatchObject({ changes: [], limitStatuses: [] })
    expect(shop.slice.tickets.size).toBe(1)
  })

  it("a replay returns the ticket as it was at first, even if it changed since (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const { data } = shop.does(create("a"))
    shop.wait(HOUR).moves(data.id as never, "ready", "collected")
    expect(shop.does(create("a")).data).toEqual(data)
  })

  it("thirty equal requests create one ticket (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const results = Array.from({ length: 30 }, () => shop.does(create("a")))
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(results.map(({ data }) => data.id)).size).toBe(1)
    expect(shop.slice.tickets.size).toBe(1)
    expect(shop.everyRow("EventRaised")).toHaveLength(1)
  })

  it("the effect, the events and the idempotency record are parts of one decision (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const { data } = shop.does(create("a"))
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual([
      "TicketPut",
      "EventRaised",
      "HeadPut",
      "IdempotencyRecordPut"
    ])
    const [row] = shop.rows("IdempotencyRecordPut")
    expect(row).toMatchObject({ shop_id: SHOP, caller_id: KEY, operation: "tickets.create", key: "a" })
    expect(row!.expires_at).toBe(START + THIRTY_DAYS)
    expect(JSON.parse(row!.response)).toEqual(data)
  })

  it("another request under the same key is refused (Specification, Idempotency)", () => {
    const shop = new TestShop()
    shop.does(create("a", { item: "Coat" }))
    expect(shop.refuses(create("a", { item: "Hat" }))._tag).toBe("IdempotencyKeyReused")
    expect(shop.refuses(create("a"))._tag).toBe("IdempotencyKeyReused")
    expect(shop.slice.tickets.size).toBe(1)
  })

  it("the same key of another caller, or of another operation, is a different key (Specification, Idempotency)", () => {
    const shop = new TestShop({ program: PROGRAM })
    shop.meets(AMIRA)
    expect(shop.does(create("a")).replayed).toBe(false)
    expect(shop.does(create("a", {}, { caller_id: OTHER_KEY })).replayed).toBe(false)
    expect(shop.does(stamps("a", 5)).replayed).toBe(false)
    expect(shop.does(redeem("a")).replayed).toBe(false)
    expect(shop.slice.tickets.size).toBe(2)
  })

  it("keys that differ in case or in inner spaces are different keys (Specification, Idempotency)", () => {
    const shop = new TestShop()
    for (const key of ["a", "A", "a b", "a  b"]) expect(shop.does(create(key)).replayed).toBe(false)
  })

  it("an idempotency record is kept for 30 days and no longer (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const first = shop.does(create("a"))
    shop.now = START + THIRTY_DAYS - 1
    expect(shop.does(create("a")).replayed).toBe(true)
    expect(shop.refuses(create("a", { item: "Hat" }))._tag).toBe("IdempotencyKeyReused")
    shop.wait(1)
    const later = shop.does(create("a", { item: "Hat" }))
    expect(later.replayed).toBe(false)
    expect(later.data.id).not.toBe(first.data.id)
    expect(shop.wait(DAY).does(create("a", { item: "Hat" }))).toEqual({ data: later.data, replayed: true })
  })

  it("a key has 1 to 80 characters (Specification, Limits)", () => {
    const accepts = (key: string) => Either.isRight(Schema.decodeUnknownEither(IdempotencyKey)(key))
    expect(["", "a", "x".repeat(80), "x".repeat(81)].map(accepts)).toEqual([false, true, true, false])
  })
})

describe("Specification, Idempotency: only successes are recorded", () => {
  it("a refused request stores no idempotency record, so the corrected body with the same key succeeds (Specification, Idempotency)", () => {
    const shop = new TestShop()
    expect(shop.refuses(create("a", { item: "Darn" }, { found: DARN }))._tag).toBe("ForbiddenWord")
    expect(shop.refuses(create("a", { client_id: AMIRA.id }))._tag).toBe("ClientNotFound")
    expect(shop.slice.idempotency_records.size).toBe(0)
    expect(shop.does(create("a", { item: "Coat" }))).toMatchObject({ replayed: false, data: { number: 1 } })
  })

  it("a request that a limit refused stores no idempotency record, so its key can be used again (Specification, Idempotency)", () => {
    const shop = new TestShop()
    for (let n = 0; n < 150; n++) shop.create()
    expect(shop.refuses(create("a"))._tag).toBe("LimitReached")
    expect(shop.wait(HOUR).does(create("a")).replayed).toBe(false)
  })
})

describe("Specification, Idempotency: the requests that count as the same", () => {
  it("requests that differ only in the order of their fields are the same (Specification, Idempotency)", () => {
    expect(fingerprintOf({ a: 1, b: { c: 2, d: [1, { x: 1, y: 2 }] } })).toBe(
      fingerprintOf({ b: { d: [1, { y: 2, x: 1 }], c: 2 }, a: 1 })
    )
  })

  it("requests that differ only in null, undefined and absent fields are the same (Specification, Errors; Idempotency)", () => {
    expect(fingerprintOf({ a: 1, b: null, c: undefined, d: [{ e: null }] })).toBe(fingerprintOf({ a: 1, d: [{}] }))
  })

  it("null in a list is an entry, so requests that differ in it are different (Specification, Idempotency)", () => {
    const lists = [[1, null], [1], [null, 1], [1, null, null]].map((a) => fingerprintOf({ a }))
    expect(new Set(lists).size).toBe(4)
  })

  it("a request of up to 512 characters is its own fingerprint, a longer one is hashed (docs/limits.md)", () => {
    const request = (length: number) => ({ a: "x".repeat(length - '{"a":""}'.length) })
    expect(fingerprintOf(request(512))).toBe(JSON.stringify(request(512)))
    expect(fingerprintOf(request(513))).toMatch(/^[0-9a-f]{64}$/)
  })

  it("requests that differ only in surrounding spaces or in the spelling of phones, dates and ids are the same (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const client_id = shop.meets(AMIRA)
    shop.does(
      create("a", { item: "Coat", client_id, client_phone: "+21620123421", promised_at: "2026-03-09T17:00:00Z" })
    )
    const again = create("a", {
      promised_at: "2026-03-09T18:00:00.000+01:00",
      client_phone: " +216 20-123-421 ",
      client_id: client_id.toUpperCase(),
      item: "  Coat ",
      service: " Hem "
    })
    expect(shop.does(again).replayed).toBe(true)
  })

  it("requests that differ in the order of items, an amount, a letter's case, or 0 instead of an absent amount are different (Specification, Idempotency)", () => {
    const prints = [
      { items: [{ label: "a" }, { label: "b" }] },
      { items: [{ label: "b" }, { label: "a" }] },
      { price_minor: 1 },
      { price_minor: 10 },
      { price_minor: 0 },
      {},
      { item: "coat" },
      { item: "Coat" },
      { description: "Coat" }
    ].map((request) => fingerprintOf(request))
    expect(new Set(prints).size).toBe(prints.length)
  })

  it("a request for stamps of another client or count is a different request (Specification, Idempotency)", () => {
    const shop = new TestShop({ program: PROGRAM })
    shop.meets(AMIRA)
    shop.does(stamps("a", 2))
    expect(shop.refuses(stamps("a", 3))._tag).toBe("IdempotencyKeyReused")
    expect(shop.does(stamps("a", 2)).replayed).toBe(true)
  })
})

describe("Specification, Idempotency: a replay succeeds where a new request would not", () => {
  it("a replay succeeds while the ticket limits are exhausted, and uses none of them (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const first = shop.does(create("a"))
    for (let n = 1; n < 150; n++) shop.create()
    expect(shop.does(create("a"))).toEqual({ data: first.data, replayed: true })
    expect(shop.refuses(create("b"))._tag).toBe("LimitReached")
    expect(shop.slice.head.tickets_per_hour.used).toBe(150)
  })

  it("a replay succeeds while the stamps of the day are exhausted (Specification, Idempotency)", () => {
    const shop = new TestShop({ program: PROGRAM })
    shop.meets(AMIRA)
    const first = shop.does(stamps("a", 10))
    shop.does(stamps("b", 10))
    expect(shop.does(stamps("a", 10))).toEqual({ data: first.data, replayed: true })
    expect(shop.refuses(stamps("c", 1))._tag).toBe("LimitReached")
  })

  it("a replay succeeds after the reward was spent and after the programme was turned off (Specification, Idempotency)", () => {
    const shop = new TestShop({ program: PROGRAM })
    shop.meets(AMIRA)
    shop.does(stamps("a", 5))
    const first = shop.does(redeem("b"))
    shop.slice.shop = { ...shop.slice.shop, program: { ...PROGRAM, active: false } }
    expect(shop.wait(HOUR).does(redeem("b"))).toEqual({ data: first.data, replayed: true })
    expect(shop.refuses(redeem("c"))._tag).toBe("LoyaltyOff")
  })

  it("a replay succeeds after the client blocked the shop, with the first response (Specification, Idempotency)", () => {
    const shop = new TestShop()
    const client_id = shop.meets(KARIM)
    const first = shop.does(create("a", { client_id }))
    expect(first.data.client?.display_name).toBe("Karim T.")
    shop.create({ client_phone: KARIM.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    expect(shop.does(create("a", { client_id }))).toEqual({ data: first.data, replayed: true })
    expect(shop.refuses(create("b", { client_id }))._tag).toBe("ClientNotFound")
    expect(shop.refuses(create("a", { client_id, item: "Hat" }))._tag).toBe("IdempotencyKeyReused")
  })

  it("a replay succeeds if its texts contain a word that was forbidden since (Specification, Errors)", () => {
    const shop = new TestShop()
    const first = shop.does(create("a", { item: "Darn" }))
    expect(shop.does(create("a", { item: "Darn" }, { found: DARN }))).toEqual({
      data: first.data,
      replayed: true
    })
  })
})
