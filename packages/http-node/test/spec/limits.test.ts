import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HOUR, MINUTE, NOBODY, SECOND, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"
import type { ApiResponse, Call } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 8 })
})
afterAll(() => service.close())

/** Sends `n` requests concurrently. */
const times = <D>(n: number, request: (i: number) => Promise<ApiResponse<D>>) =>
  Promise.all(Array.from({ length: n }, (_, i) => request(i)))

const statuses = (responses: ReadonlyArray<ApiResponse>) => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const refusal = (response: ApiResponse) => ({
  status: response.status,
  policy: response.error?.details?.limit,
  ...response.limit
})

describe("requests: at most 120 a minute for each key (Specification, Limits)", () => {
  it("120 requests succeed and the next is a 429, and RateLimit-Remaining counts down to 0 (Specification, Limits)", async () => {
    const shop = await service.shop()
    for (let i = 0; i < 120; i++) {
      const response = await shop.get("/v1/shop")
      expect([response.status, response.limit]).toEqual([200, { limit: 120, remaining: 119 - i, reset: 60 }])
    }
    const refused = await shop.get("/v1/shop")
    expect(refusal(refused)).toEqual({
      status: 429,
      policy: "requests_per_minute",
      limit: 120,
      remaining: 0,
      reset: 60
    })
  })

  it("the window starts at the first use, so a request after exactly RateLimit-Reset seconds succeeds, and one a millisecond earlier is refused (Specification, Limits)", async () => {
    const shop = await service.shop()
    await shop.get("/v1/shop")
    service.clock.advance(17_250)
    await times(119, () => shop.get("/v1/shop"))
    const refused = await shop.get("/v1/shop")
    expect(refused.limit.reset).toBe(43)
    service.clock.advance(42_750 - 1)
    expect((await shop.get("/v1/shop")).limit).toEqual({ limit: 120, remaining: 0, reset: 1 })
    service.clock.advance(1)
    expect(refusal(await shop.get("/v1/shop"))).toMatchObject({ status: 200, remaining: 119, reset: 60 })
  })

  it("a 429 does not count, so repeated requests do not postpone the end of the window (Specification, Limits)", async () => {
    const shop = await service.shop()
    await times(120, () => shop.get("/v1/shop"))
    for (let i = 0; i < 6; i++) {
      service.clock.advance(9 * SECOND)
      expect(statuses(await times(10, () => shop.get("/v1/shop")))).toEqual({ 429: 10 })
    }
    service.clock.advance(6 * SECOND)
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(119)
  })

  it("requests with every other response count: 200, 400, 403, 404, 409 (Specification, Limits)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey(["tickets:read", "tickets:write"])
    const { id } = await shop.create()
    const call: Call = { key }
    const responses = [
      await shop.get("/v1/shop", "", call),
      await shop.get("/v1/tickets", "limit=0", call),
      await shop.get("/v1/nothing", "", call),
      await shop.get(`/v1/clients/${NOBODY}`, "", call),
      await shop.get(`/v1/tickets/${NOBODY}`, "", call),
      await service.api("HEAD", "/v1/shop", call),
      await service.api("DELETE", "/v1/shop", call)
    ]
    expect(responses.map(({ limit }) => limit.remaining)).toEqual([119, 118, 117, 116, 115, 114, 113])
    const refused = await shop.post(`/v1/tickets/${id}/status`, { status: "collected" }, call)
    expect([refused.status, refused.limit]).toEqual([409, { limit: 30, remaining: 29, reset: 60 }])
    expect((await shop.get("/v1/shop", "", call)).limit.remaining).toBe(111)
  })

  it("a request with a 403 for the shop's flags counts (Specification, Limits)", async () => {
    const shop = await service.shop()
    await shop.change({ api_enabled: false })
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(119)
    expect((await shop.tryCreate({ service: "Hem" })).limit).toMatchObject({ limit: 120, remaining: 118 })
  })

  it("each key has its own limit (Specification, Limits)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey()
    await times(120, () => shop.get("/v1/shop"))
    expect((await shop.get("/v1/shop")).status).toBe(429)
    expect((await shop.get("/v1/shop", "", { key })).limit.remaining).toBe(119)
  })

  it("of 130 concurrent requests over many sockets, 120 succeed and ten are refused (Specification, Limits)", async () => {
    const shop = await service.shop()
    expect(statuses(await times(130, () => shop.get("/v1/shop")))).toEqual({ 200: 120, 429: 10 })
  })
})

describe("writes: at most 30 a minute for each key (Specification, Limits)", () => {
  it("30 writes succeed and the next is a 429, and the headers show the limit with the fewest uses left (Specification, Limits)", async () => {
    const shop = await service.shop()
    for (let i = 0; i < 30; i++) {
      const response = await shop.tryCreate({ service: "Hem" })
      expect([response.status, response.limit]).toEqual([201, { limit: 30, remaining: 29 - i, reset: 60 }])
    }
    const refused = await shop.tryCreate({ service: "Hem" })
    expect(refusal(refused)).toEqual({ status: 429, policy: "writes_per_minute", limit: 30, remaining: 0, reset: 60 })
    service.clock.advance(refused.limit.reset * SECOND)
    expect((await shop.tryCreate({ service: "Hem" })).status).toBe(201)
  })

  it("a write that its limit refuses is not counted as a request, and reads still succeed (Specification, Limits)", async () => {
    const shop = await service.shop()
    await times(30, () => shop.tryCreate({ service: "" }))
    await times(20, () => shop.tryCreate({ service: "Hem" }))
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(89)
  })

  it("every POST with the needed scope counts, even with a 400, 404, 409 or 422 response or as a replay (Specification, Limits)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const { id } = await shop.create({ service: "Hem" }, { idempotency_key })
    const responses = [
      await shop.tryCreate({ service: "" }),
      await shop.tryCreate({ service: "fuck" }),
      await shop.tryMove(NOBODY, "ready"),
      await shop.tryMove(id, "workshop"),
      await shop.tryCreate({ service: "Hem" }, { idempotency_key }),
      await shop.stamp(NOBODY, 1),
      await shop.post("/v1/tickets", undefined, { raw: "{" })
    ]
    expect(responses.map(({ limit }) => limit.remaining)).toEqual([28, 27, 26, 25, 24, 23, 22])
    await shop.post("/v1/nothing", {})
    expect((await shop.tryMove(id, "ready")).limit.remaining).toBe(21)
  })

  it("if the write limit and the request limit are both used up, the headers show the later reset (Specification, Limits)", async () => {
    const shop = await service.shop()
    await times(60, () => shop.get("/v1/shop"))
    service.clock.advance(20 * SECOND)
    await times(30, () => shop.tryCreate({ service: "" }))
    await times(30, () => shop.get("/v1/shop"))
    expect(refusal(await shop.get("/v1/shop"))).toMatchObject({ status: 429, policy: "requests_per_minute", reset: 40 })
    expect(refusal(await shop.tryCreate({ service: "Hem" }))).toMatchObject({
      status: 429,
      policy: "writes_per_minute",
      limit: 30,
      remaining: 0,
      reset: 60
    })
  })
})

describe("requests without a valid key: at most 120 a minute for each address (Specification, Limits)", () => {
  it("120 requests get a 401 with the headers of their limit, and the next is a 429 (Specification, Limits)", async () => {
    const from = "10.8.0.1"
    for (let i = 0; i < 120; i++) {
      const response = await service.api("GET", "/v1/shop", {
        from,
        key: i % 2 === 0 ? null : `wk_live_${"x".repeat(43)}`
      })
      expect([response.status, response.limit]).toEqual([401, { limit: 120, remaining: 119 - i, reset: 60 }])
    }
    const refused = await service.api("GET", "/v1/shop", { from })
    expect(refusal(refused)).toEqual({
      status: 429,
      policy: "unauthenticated_per_minute",
      limit: 120,
      remaining: 0,
      reset: 60
    })
    service.clock.advance(MINUTE)
    expect((await service.api("GET", "/v1/shop", { from })).status).toBe(401)
  })

  it("the port that a proxy adds to an address does not count as part of it (Specification, Limits)", async () => {
    const left = async (from: string) => (await service.api("GET", "/v1/shop", { from })).limit.remaining
    const remaining = []
    for (const from of ["10.8.0.7:4711", "10.8.0.7", "[2001:db8::7]:443", "[2001:db8::7]", "2001:db8::7"])
      remaining.push(await left(from))
    expect(remaining).toEqual([119, 118, 119, 118, 117])
    const local = await left("no address")
    for (const from of ["10.8.0.7:port", "[10.8.0.7", "10.8.0:1", "[not]:1"]) await left(from)
    expect(await left("no address")).toBe(local - 5)
  })

  it("of the addresses in X-Forwarded-For the last one counts, because a caller can send the others (Specification, Limits)", async () => {
    const remaining = []
    for (const from of ["10.8.0.8", "10.8.0.80, 10.8.0.8", "10.8.0.81,10.8.0.80 , 10.8.0.8", "10.8.0.80"])
      remaining.push((await service.api("GET", "/v1/shop", { from })).limit.remaining)
    expect(remaining).toEqual([119, 118, 117, 119])
  })

  it("a valid key is accepted from a limited address, and another address has its own count (Specification, Limits)", async () => {
    const shop = await service.shop()
    const from = "10.8.0.2"
    await times(121, () => service.api("POST", "/v1/tickets", { from }))
    expect((await service.api("GET", "/v1/shop", { from })).status).toBe(429)
    expect((await shop.get("/v1/shop", "", { from })).status).toBe(200)
    expect((await service.api("GET", "/v1/shop", { from: "10.8.0.3" })).status).toBe(401)
  })

  it("requests for paths outside /v1 do not count, and their headers show the address's limit (Specification, Limits)", async () => {
    const from = "10.8.0.4"
    for (let i = 0; i < 3; i++) expect((await service.api("GET", "/nothing", { from })).limit.remaining).toBe(120)
    await service.api("GET", "/v1/shop", { from })
    expect((await service.api("GET", "/nothing", { from })).limit).toMatchObject({ limit: 120, remaining: 119 })
  })
})

describe("look-ups of clients by phone: at most 60 an hour and 300 a day for each shop (Specification, Limits)", () => {
  const look = (shop: TestShop, phone = "+21629999999", call: Call = {}) => shop.get("/v1/clients", { phone }, call)

  it("60 look-ups in an hour are accepted, whether they find a client or not, and the next is a 429 (Specification, Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    for (let i = 0; i < 60; i++) {
      const isKnown = i % 2 === 0
      const response = await look(shop, isKnown ? client.phone : "+21629999999")
      expect(response.status).toBe(isKnown ? 200 : 404)
      if (isKnown) expect(response.limit).toEqual({ limit: 60, remaining: 59 - i, reset: 3600 })
      else expect(response.limit).toMatchObject({ limit: 120, remaining: 119 - i })
    }
    for (const phone of [client.phone, "+21629999999"]) {
      const refused = await look(shop, phone)
      expect(refusal(refused)).toEqual({
        status: 429,
        policy: "lookups_per_hour",
        limit: 60,
        remaining: 0,
        reset: 3600
      })
    }
    service.clock.advance(HOUR - 1)
    expect((await look(shop)).status).toBe(429)
    service.clock.advance(1)
    expect((await look(shop)).status).toBe(404)
  })

  it("the shop's keys share the limit, and reads by id, of loyalty and by the list's phone filter do not count (Specification, Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { key } = await shop.newKey()
    await times(30, () => look(shop))
    await times(29, () => look(shop, client.phone, { key }))
    await shop.get(`/v1/clients/${client.id}`)
    await shop.get(`/v1/clients/${client.id}/loyalty`)
    await shop.get("/v1/tickets", { phone: client.phone })
    expect((await look(shop, client.phone)).limit).toMatchObject({ limit: 60, remaining: 0 })
    expect((await look(shop, client.phone, { key })).status).toBe(429)
    expect((await look(await service.shop())).status).toBe(404)
  })

  it("malformed look-ups, and look-ups without the scope, do not count (Specification, Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { key } = await shop.newKey(["tickets:read"])
    for (const query of ["", "phone=x", "phone=%2B21629999999&x=1", "phone=%"]) {
      expect((await shop.get("/v1/clients", query)).status).toBe(400)
    }
    expect((await look(shop, client.phone, { key })).status).toBe(403)
    expect((await look(shop, client.phone)).limit).toMatchObject({ limit: 60, remaining: 59 })
  })

  it("HEAD of a look-up counts as a look-up (Specification, Errors; Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const phone = encodeURIComponent(client.phone)
    const head = await service.api("HEAD", `/v1/clients?phone=${phone}`, { key: shop.key })
    expect([head.status, head.limit.remaining]).toEqual([200, 59])
    expect((await look(shop, client.phone)).limit.remaining).toBe(58)
  })

  it("a look-up that its limit refuses is not counted as a request (Specification, Limits)", async () => {
    const shop = await service.shop()
    await times(60, () => look(shop))
    expect(statuses(await times(20, () => look(shop)))).toEqual({ 429: 20 })
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(59)
  })

  it("300 look-ups are accepted in the shop's calendar day, and the count begins again at its midnight (Specification, Limits)", async () => {
    // 00:30 in Tunis (UTC+1), so that more than six hours of the shop's day are left.
    service.clock.set(Date.parse("2027-03-01T23:30:00.000Z"))
    const shop = await service.shop()
    const client = await service.known(shop)
    for (let hour = 0; hour < 5; hour++) {
      expect(statuses(await times(60, () => look(shop)))).toEqual({ 404: 60 })
      service.clock.advance(HOUR)
    }
    const refused = await look(shop, client.phone)
    expect(refusal(refused)).toEqual({
      status: 429,
      policy: "lookups_per_day",
      limit: 300,
      remaining: 0,
      reset: 18.5 * 3600
    })
    service.clock.advance(refused.limit.reset * SECOND - 1)
    expect((await look(shop)).status).toBe(429)
    service.clock.advance(1)
    expect(service.iso()).toBe("2027-03-02T23:00:00.000Z")
    expect((await look(shop, client.phone)).limit).toMatchObject({ limit: 60, remaining: 59 })
  })
})
