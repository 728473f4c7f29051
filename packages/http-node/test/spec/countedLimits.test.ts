import { Tickets } from "@workshop/core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HOUR, MINUTE, NOBODY, SECOND, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"
import type { ApiResponse } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 81 })
})
afterAll(() => service.close())

const refusal = (response: ApiResponse) => ({
  status: response.status,
  policy: response.error?.details?.limit,
  ...response.limit
})

const inApp = async (shop: TestShop, n: number) => {
  for (let i = 0; i < n; i++) await shop.createInApp()
}

describe("tickets: at most 150 an hour and 600 a day for each shop (Specification, Limits)", () => {
  it("after 150 tickets in an hour from app and API together, the next ticket from either is refused, and the 429 shows the limit in its headers (Specification, Limits)", async () => {
    const shop = await service.shop()
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
    expect((await (await service.shop()).tryCreate({ service: "Hem" })).status).toBe(201)
  })

  it("the hour starts with its first ticket, and a create after exactly RateLimit-Reset seconds succeeds (Specification, Limits)", async () => {
    const shop = await service.shop()
    await inApp(shop, 1)
    service.clock.advance(20 * MINUTE)
    await inApp(shop, 149)
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toMatchObject({ status: 429, reset: 2400 })
    service.clock.advance(2400 * SECOND - 1)
    expect((await shop.tryCreate({ service: "Hem" })).status).toBe(429)
    service.clock.advance(1)
    expect((await shop.tryCreate({ service: "Hem" })).status).toBe(201)
  })

  it("only created tickets count, and not 400, 404, 409, 422 or replays (Specification, Idempotency; Limits)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await inApp(shop, 139)
    await shop.create({ service: "Hem" }, { idempotency_key })
    for (const body of [{ service: "" }, { service: "fuck" }, { service: "Hem", client_id: NOBODY }])
      await shop.tryCreate(body)
    expect((await shop.tryCreate({ service: "Other" }, { idempotency_key })).status).toBe(409)
    for (let i = 0; i < 5; i++) expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key })).status).toBe(200)
    expect((await shop.tryCreate({ service: "Hem" })).limit).toMatchObject({ limit: 150, remaining: 9 })
  })

  it("a create that the limit refuses does not count as a request, and uses up neither a ticket number nor its Idempotency-Key (Specification, Idempotency; Tickets; Limits)", async () => {
    const shop = await service.shop()
    await inApp(shop, 150)
    const idempotency_key = shop.newIdempotencyKey()
    for (let i = 0; i < 5; i++) expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key })).status).toBe(429)
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(119)
    service.clock.advance(HOUR)
    const created = await shop.tryCreate({ service: "Hem" }, { idempotency_key })
    expect([created.status, created.meta, created.data.number]).toEqual([201, { replayed: false }, 151])
  })

  it("only creates show the ticket limits in their headers (Specification, Limits)", async () => {
    const shop = await service.shop()
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
    it(`600 tickets are accepted in the calendar day of ${time_zone}, and the count begins again at its midnight (Specification, Limits)`, async () => {
      service.clock.set(Date.parse(midnight) - 10 * HOUR)
      const shop = await service.shop({ time_zone })
      for (let hour = 0; hour < 4; hour++) {
        await inApp(shop, 150)
        service.clock.advance(HOUR)
      }
      const refused = await shop.tryCreate({ service: "Hem" })
      expect(refusal(refused)).toEqual({
        status: 429,
        policy: "tickets_per_day",
        limit: 600,
        remaining: 0,
        reset: 6 * 3600
      })
      service.clock.set(Date.parse(midnight) - 1)
      expect((await shop.tryCreate({ service: "Hem" })).limit).toEqual({ limit: 600, remaining: 0, reset: 1 })
      service.clock.advance(1)
      expect((await shop.tryCreate({ service: "Hem" })).status).toBe(201)
    })
  }

  it("a day on which the clocks go forward has 23 hours: Paris, 28 March 2027 (Specification, Limits)", async () => {
    service.clock.set(Date.parse("2027-03-28T00:30:00.000+01:00"))
    const shop = await service.shop({ time_zone: "Europe/Paris" })
    for (let hour = 0; hour < 4; hour++) {
      await inApp(shop, 150)
      service.clock.advance(HOUR)
    }
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toMatchObject({ policy: "tickets_per_day", reset: 23 * 3600 - 4.5 * 3600 })
  })

  it("if both the hour and the day refuse, the headers show the longer reset (Specification, Limits)", async () => {
    service.clock.set(Date.parse("2027-06-01T23:00:00.000Z"))
    const shop = await service.shop()
    for (let hour = 0; hour < 4; hour++) {
      if (hour > 0) service.clock.advance(HOUR)
      await inApp(shop, 150)
    }
    expect(refusal(await shop.tryCreate({ service: "Hem" }))).toMatchObject({
      policy: "tickets_per_day",
      reset: 21 * 3600
    })
  })

  it("the same limit refuses a create in the app with the refusal LimitReached (Specification, Limits)", async () => {
    const shop = await service.shop()
    await inApp(shop, 150)
    const again = Effect.flatMap(Tickets, (tickets) => tickets.create(shop.caller, { service: "Hem" } as never))
    expect(await service.refusal(again)).toBe("LimitReached")
  })
})

describe("stamps: at most 20 for each client, day and key (Specification, Endpoints; Clients and loyalty)", () => {
  it("20 stamps are added and the 21st is a 429, with Retry-After until the shop's midnight (Specification, Endpoints; Limits)", async () => {
    service.clock.set(Date.parse("2027-07-01T09:00:00.000Z"))
    const shop = await service.shop()
    const client = await service.known(shop)
    for (const count of [10, 9, 1]) expect((await shop.stamp(client.id, count)).status).toBe(200)
    const refused = await shop.stamp(client.id, 1)
    expect(refusal(refused)).toEqual({
      status: 429,
      policy: "stamps_per_day",
      limit: 20,
      remaining: 0,
      reset: 14 * 3600
    })
    service.clock.advance(14 * HOUR - 1)
    expect((await shop.stamp(client.id, 1)).status).toBe(429)
    service.clock.advance(1)
    expect((await shop.stamp(client.id, 10)).status).toBe(200)
  })

  it("a request for more stamps than are left is refused without adding any, and a request for no more than are left then succeeds (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.stamp(client.id, 10)
    await shop.stamp(client.id, 5)
    expect(refusal(await shop.stamp(client.id, 6))).toMatchObject({
      status: 429,
      policy: "stamps_per_day",
      remaining: 5
    })
    expect((await shop.stamp(client.id, 5)).data.card.lifetime).toBe(20)
  })

  it("each client, each key and each shop has a separate stamp limit (Specification, Clients and loyalty)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const [client, second] = [await service.known(shop), await service.known(shop)]
    await service.visit(client, other)
    const { key } = await shop.newKey()
    for (const count of [10, 10]) await shop.stamp(client.id, count)
    expect((await shop.stamp(client.id, 1)).status).toBe(429)
    expect((await shop.stamp(second.id, 10)).status).toBe(200)
    expect((await shop.stamp(client.id, 10, { key })).data.card.lifetime).toBe(30)
    expect((await other.stamp(client.id, 10)).data.card.lifetime).toBe(10)
  })

  it("only a 429 of the stamp limit shows it in the headers, and replays and refusals do not count against it (Specification, Idempotency; Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const idempotency_key = shop.newIdempotencyKey()
    expect((await shop.stamp(client.id, 10, { idempotency_key })).limit).toMatchObject({ limit: 30, remaining: 29 })
    for (let i = 0; i < 3; i++)
      expect((await shop.stamp(client.id, 10, { idempotency_key })).meta).toEqual({ replayed: true })
    expect((await shop.stamp(client.id, 11)).status).toBe(400)
    expect((await shop.stamp(client.id, 10)).limit.limit).toBe(30)
    expect((await shop.stamp(client.id, 10)).status).toBe(429)
    expect((await shop.stamp(client.id, 10, { idempotency_key })).status).toBe(200)
  })

  it("a request for stamps that the stamp limit refuses does not count as a request (Specification, Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    for (const count of [10, 10]) await shop.stamp(client.id, count)
    for (let i = 0; i < 5; i++) await shop.stamp(client.id, 1)
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(117)
  })

  it("of thirty concurrent calls for one stamp each, exactly twenty succeed (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const responses = await Promise.all(Array.from({ length: 30 }, () => shop.stamp(client.id, 1)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(10)
    const { data } = await shop.get<{ readonly loyalty: unknown }>(`/v1/clients/${client.id}`)
    expect(data.loyalty).toMatchObject({ balance: 20, lifetime: 20 })
  })
})
