import { Tickets } from "@workshop/core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HOUR, MINUTE, NOBODY, SECOND, World } from "../World.js"
import type { TestShop } from "./TestShop.js"
import type { Answer } from "./Wire.js"

let world: World
beforeAll(async () => {
  world = await World.open({ seed: 81 })
})
afterAll(() => world.close())

const refusal = (answer: Answer) => ({ status: answer.status, policy: answer.error?.details?.limit, ...answer.limit })

const inApp = async (shop: TestShop, n: number) => {
  for (let i = 0; i < n; i++) await shop.createInApp()
}

describe("tickets: 150 an hour and 600 a day for each shop (Specification, Limits)", () => {
  it("150 in an hour, app and API together; the next is 429 through either, and the headers say so (Specification, Limits)", async () => {
    const shop = await world.shop()
    await inApp(shop, 140)
    for (let left = 9; left >= 0; left--) {
      const { limit } = await shop.tryCreate({ service: "Hem" })
      expect(limit).toEqual({ limit: 150, remaining: left, reset: 3600 })
    }
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toEqual({ status: 429, policy: "tickets_per_hour", limit: 150, remaining: 0, reset: 3600 })
    await expect(shop.createInApp()).rejects.toMatchObject({ _tag: "LimitReached" })
    expect(refusal(await shop.tryCreate({ service: "Hem" }, { key: (await shop.newKey()).key }))).toMatchObject({
      policy: "tickets_per_hour"
    })
    expect((await (await world.shop()).tryCreate({ service: "Hem" })).status).toBe(201)
  })

  it("the hour starts at its first ticket; waiting exactly RateLimit-Reset seconds helps (Specification, Limits)", async () => {
    const shop = await world.shop()
    await inApp(shop, 1)
    world.clock.advance(20 * MINUTE)
    await inApp(shop, 149)
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toMatchObject({ status: 429, reset: 2400 })
    world.clock.advance(2400 * SECOND - 1)
    expect((await shop.tryCreate({ service: "Hem" })).status).toBe(429)
    world.clock.advance(1)
    expect((await shop.tryCreate({ service: "Hem" })).status).toBe(201)
  })

  it("only tickets that came to be count: not 400, 404, 409, 422, nor replays (Specification, Idempotency; Limits)", async () => {
    const shop = await world.shop()
    const once = shop.attempt()
    await inApp(shop, 139)
    await shop.create({ service: "Hem" }, { once })
    for (const body of [{ service: "" }, { service: "fuck" }, { service: "Hem", client_id: NOBODY }])
      await shop.tryCreate(body)
    expect((await shop.tryCreate({ service: "Other" }, { once })).status).toBe(409)
    for (let i = 0; i < 5; i++) expect((await shop.tryCreate({ service: "Hem" }, { once })).status).toBe(200)
    expect((await shop.tryCreate({ service: "Hem" })).limit).toMatchObject({ limit: 150, remaining: 9 })
  })

  it("a create refused by the limit is no request, takes no number and leaves its key free (Specification, Idempotency; Tickets; Limits)", async () => {
    const shop = await world.shop()
    await inApp(shop, 150)
    const once = shop.attempt()
    for (let i = 0; i < 5; i++) expect((await shop.tryCreate({ service: "Hem" }, { once })).status).toBe(429)
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(119)
    world.clock.advance(HOUR)
    const made = await shop.tryCreate({ service: "Hem" }, { once })
    expect([made.status, made.meta, made.data.number]).toEqual([201, { replayed: false }, 151])
  })

  it("only creates show the ticket limits (Specification, Limits)", async () => {
    const shop = await world.shop()
    await inApp(shop, 148)
    const { id } = await shop.create()
    expect((await shop.tryMove(id, "ready")).limit.limit).toBe(30)
    expect((await shop.get("/v1/tickets")).limit.limit).toBe(120)
    expect((await shop.tryCreate({ service: "" })).limit.limit).toBe(30)
  })

  for (const [time_zone, midnight] of [
    ["Africa/Tunis", "2027-05-10T23:00:00.000Z"],
    ["Asia/Kolkata", "2027-05-10T18:30:00.000Z"],
    ["America/New_York", "2027-05-11T04:00:00.000Z"]
  ] as const) {
    it(`600 in the calendar day of ${time_zone}; at its midnight they begin anew (Specification, Limits)`, async () => {
      world.clock.set(Date.parse(midnight) - 10 * HOUR)
      const shop = await world.shop({ time_zone })
      for (let hour = 0; hour < 4; hour++) {
        await inApp(shop, 150)
        world.clock.advance(HOUR)
      }
      const refused = await shop.tryCreate({ service: "Hem" })
      expect(refusal(refused)).toEqual({
        status: 429,
        policy: "tickets_per_day",
        limit: 600,
        remaining: 0,
        reset: 6 * 3600
      })
      world.clock.set(Date.parse(midnight) - 1)
      expect((await shop.tryCreate({ service: "Hem" })).limit).toEqual({ limit: 600, remaining: 0, reset: 1 })
      world.clock.advance(1)
      expect((await shop.tryCreate({ service: "Hem" })).status).toBe(201)
    })
  }

  it("a day with a change of clocks has 23 hours: Paris, 28 March 2027 (Specification, Limits)", async () => {
    world.clock.set(Date.parse("2027-03-28T00:30:00.000+01:00"))
    const shop = await world.shop({ time_zone: "Europe/Paris" })
    for (let hour = 0; hour < 4; hour++) {
      await inApp(shop, 150)
      world.clock.advance(HOUR)
    }
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toMatchObject({ policy: "tickets_per_day", reset: 23 * 3600 - 4.5 * 3600 })
  })

  it("if hour and day both refuse, the headers show the longer reset (Specification, Limits)", async () => {
    world.clock.set(Date.parse("2027-06-01T23:00:00.000Z"))
    const shop = await world.shop()
    for (let hour = 0; hour < 4; hour++) {
      if (hour > 0) world.clock.advance(HOUR)
      await inApp(shop, 150)
    }
    expect(refusal(await shop.tryCreate({ service: "Hem" }))).toMatchObject({
      policy: "tickets_per_day",
      reset: 21 * 3600
    })
  })

  it("the app is refused by the same limit as its command says (Specification, Limits)", async () => {
    const shop = await world.shop()
    await inApp(shop, 150)
    const again = Effect.flatMap(Tickets, (tickets) => tickets.create(shop.caller, { service: "Hem" } as never))
    expect(await world.refusal(again)).toBe("LimitReached")
  })
})

describe("stamps: 20 a client, day and key (Specification, Endpoints; Clients and loyalty)", () => {
  it("20 are given and the 21st is 429, with Retry-After up to the shop's midnight (Specification, Endpoints; Limits)", async () => {
    world.clock.set(Date.parse("2027-07-01T09:00:00.000Z"))
    const shop = await world.shop()
    const client = await world.known(shop)
    for (const count of [10, 9, 1]) expect((await shop.stamp(client.id, count)).status).toBe(200)
    const refused = await shop.stamp(client.id, 1)
    expect(refusal(refused)).toEqual({
      status: 429,
      policy: "stamps_per_day",
      limit: 20,
      remaining: 0,
      reset: 14 * 3600
    })
    world.clock.advance(14 * HOUR - 1)
    expect((await shop.stamp(client.id, 1)).status).toBe(429)
    world.clock.advance(1)
    expect((await shop.stamp(client.id, 10)).status).toBe(200)
  })

  it("all or nothing: what does not fit whole is refused whole, and what fits still fits (Specification, Clients and loyalty)", async () => {
    const shop = await world.shop()
    const client = await world.known(shop)
    await shop.stamp(client.id, 10)
    await shop.stamp(client.id, 5)
    expect(refusal(await shop.stamp(client.id, 6))).toMatchObject({
      status: 429,
      policy: "stamps_per_day",
      remaining: 5
    })
    expect((await shop.stamp(client.id, 5)).data.card.lifetime).toBe(20)
  })

  it("another client, another key and another shop have their own (Specification, Clients and loyalty)", async () => {
    const [shop, other] = [await world.shop(), await world.shop()]
    const [client, second] = [await world.known(shop), await world.known(shop)]
    await world.visit(client, other)
    const { key } = await shop.newKey()
    for (const count of [10, 10]) await shop.stamp(client.id, count)
    expect((await shop.stamp(client.id, 1)).status).toBe(429)
    expect((await shop.stamp(second.id, 10)).status).toBe(200)
    expect((await shop.stamp(client.id, 10, { key })).data.card.lifetime).toBe(30)
    expect((await other.stamp(client.id, 10)).data.card.lifetime).toBe(10)
  })

  it("the stamp limit shows only when it refuses; replays and refusals do not count against it (Specification, Idempotency; Limits)", async () => {
    const shop = await world.shop()
    const client = await world.known(shop)
    const once = shop.attempt()
    expect((await shop.stamp(client.id, 10, { once })).limit).toMatchObject({ limit: 30, remaining: 29 })
    for (let i = 0; i < 3; i++) expect((await shop.stamp(client.id, 10, { once })).meta).toEqual({ replayed: true })
    expect((await shop.stamp(client.id, 11)).status).toBe(400)
    expect((await shop.stamp(client.id, 10)).limit.limit).toBe(30)
    expect((await shop.stamp(client.id, 10)).status).toBe(429)
    expect((await shop.stamp(client.id, 10, { once })).status).toBe(200)
  })

  it("stamps refused by the limit are no request (Specification, Limits)", async () => {
    const shop = await world.shop()
    const client = await world.known(shop)
    for (const count of [10, 10]) await shop.stamp(client.id, count)
    for (let i = 0; i < 5; i++) await shop.stamp(client.id, 1)
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(117)
  })

  it("thirty calls at once for one stamp each give exactly twenty (Specification, Clients and loyalty)", async () => {
    const shop = await world.shop()
    const client = await world.known(shop)
    const answers = await Promise.all(Array.from({ length: 30 }, () => shop.stamp(client.id, 1)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    const { data } = await shop.get<{ readonly loyalty: unknown }>(`/v1/clients/${client.id}`)
    expect(data.loyalty).toMatchObject({ balance: 20, lifetime: 20 })
  })
})
