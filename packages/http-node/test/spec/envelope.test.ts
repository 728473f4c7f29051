import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NOBODY, TestService } from "../TestService.js"
import type { TicketJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 11 })
})
afterAll(() => service.close())

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * TestService.api checks the envelope of every response (Wire.ts). These tests check the content of each kind of
 * response.
 */
describe("the envelope (Specification, Requests and responses; Lists and sync)", () => {
  it("a result has success true and data, and meta only if it has entries (Specification, Requests and responses; Lists and sync)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create()
    const metas: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["/v1/shop", []],
      ["/v1/tickets", ["has_more", "next_cursor"]],
      ["/v1/tickets?updated_since=2026-01-01", ["has_more", "next_cursor", "synced_until"]],
      [`/v1/tickets/${id}`, []],
      ["/v1/tickets/by-number/1", ["others"]],
      [`/v1/clients?phone=${encodeURIComponent(client.phone)}`, []],
      [`/v1/clients/${client.id}`, []],
      [`/v1/clients/${client.id}/loyalty`, []]
    ]
    for (const [path, keys] of metas) {
      const response = await shop.get(path)
      expect([response.status, Object.keys(response.meta ?? {}).sort()], path).toEqual([200, keys])
    }
    expect((await shop.tryMove(id, "ready")).meta).toEqual({ replayed: false })
    expect((await shop.tryCreate({ service: "Hem" })).meta).toEqual({ replayed: false })
    expect((await shop.stamp(client.id, 1)).meta).toEqual({ replayed: false })
  })

  it("a failure has success false and an error with code, message and optional details (Specification, Requests and responses; Errors)", async () => {
    const shop = await service.shop()
    const response = await shop.get(`/v1/tickets/${NOBODY}`)
    expect(JSON.parse(response.text)).toEqual({
      success: false,
      error: { code: "NOT_FOUND", message: expect.stringMatching(/\w/) }
    })
  })

  it("an unknown route or method under /v1 is a 404 with a valid key and a 401 without (Specification, Errors)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    const unknown = [
      ["GET", "/v1"],
      ["GET", "/v1/"],
      ["GET", "/v1/nothing"],
      ["GET", "/v1//tickets"],
      ["GET", "/v1/Tickets"],
      ["GET", "/v1/shop/"],
      ["GET", "/v1/tickets/"],
      ["GET", "/v1/tickets/by-number/"],
      ["GET", "/v1/clients/"],
      ["POST", "/v1/tickets//status"],
      ["GET", "/v1/shop;x=1"],
      ["GET", "/v1/./shop"],
      ["GET", "/v1/tickets/../shop"],
      ["GET", `/v1/tickets/${id}/`],
      ["GET", `/v1/tickets/${id}/status`],
      ["GET", "/v1/tickets/by-number/1/2"],
      ["POST", "/v1/shop"],
      ["POST", `/v1/tickets/${id}`],
      ["POST", "/v1/clients"],
      ["PUT", `/v1/tickets/${id}`],
      ["PATCH", `/v1/tickets/${id}`],
      ["DELETE", `/v1/tickets/${id}`],
      ["DELETE", "/v1/tickets"],
      ["OPTIONS", "/v1/tickets"],
      ["OPTIONS", "/v1/shop"],
      ["TRACE", "/v1/shop"],
      ["HEAD", `/v1/tickets/${id}/status`],
      ["HEAD", "/v1/nothing"]
    ] as const
    for (const [method, path] of unknown) {
      const response = await service.api(method, path, { key: shop.key })
      const known = `${method} ${path}`
      expect(response.status, known).toBe(404)
      if (method !== "HEAD") expect(response.error.code, known).toBe("NOT_FOUND")
      expect(response.headers.allow, known).toBeUndefined()
      expect((await service.api(method, path)).status, known).toBe(401)
    }
  })

  it("a path outside /v1 is a 404 in the envelope and needs no key (Specification, Commands)", async () => {
    for (const path of [
      "/",
      "/v2/shop",
      "/v10/shop",
      "/V1/shop",
      "/index.html",
      "/v1x",
      "/%76%31/shop",
      "/..%2fv1/shop"
    ]) {
      const response = await service.api("GET", path)
      expect([response.status, response.error.code], path).toEqual([404, "NOT_FOUND"])
    }
  })

  it("a path with an empty parameter or with invalid percent-encoding gets a response in the envelope (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    for (const path of [
      "/v1/tickets/%",
      "/v1/tickets/%zz",
      "/v1/tickets/%ff",
      "/v1/tickets/by-number/%C3",
      "/v1/%",
      "/v1/clients/%E0%A4%A/loyalty"
    ]) {
      const response = await shop.get(path)
      expect([400, 404], `${path}: ${response.text}`).toContain(response.status)
    }
  })

  it("a path of thousands of characters gets a response in the envelope (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    for (const path of [
      `/v1/tickets/${"a".repeat(5000)}`,
      `/v1/${"x/".repeat(3000)}`,
      `/v1/tickets/by-number/${"9".repeat(5000)}`
    ]) {
      const response = await shop.get(path)
      expect([400, 404], path.slice(0, 40)).toContain(response.status)
    }
  })

  it("HEAD responds with the status, type, length and limits of GET, without a body (Specification, Errors)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    for (const path of [
      "/v1/shop",
      "/v1/tickets",
      `/v1/tickets/${id}`,
      `/v1/tickets/${NOBODY}`,
      "/v1/tickets?limit=0",
      "/v1/tickets/by-number/1"
    ]) {
      const got = await shop.get(path)
      const head = await service.api("HEAD", path, { key: shop.key })
      expect([head.status, head.text], path).toEqual([got.status, ""])
      expect(head.headers["content-length"], path).toBe(got.headers["content-length"])
      expect(head.limit.remaining, path).toBe(got.limit.remaining - 1)
    }
    expect((await service.api("HEAD", "/v1/shop")).status).toBe(401)
  })

  it("an unknown query parameter is refused by name, even for an endpoint without parameters (Specification, Errors)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create()
    const calls = [
      ["GET", "/v1/shop", undefined],
      ["GET", `/v1/tickets/${id}`, undefined],
      ["GET", "/v1/tickets/by-number/1", undefined],
      ["GET", `/v1/clients/${client.id}`, undefined],
      ["GET", `/v1/clients/${client.id}/loyalty`, undefined],
      ["POST", "/v1/tickets", { service: "Hem" }],
      ["POST", `/v1/tickets/${id}/status`, { status: "ready" }],
      ["POST", `/v1/tickets/${id}/notified`, { channel: "sms" }],
      ["POST", `/v1/clients/${client.id}/loyalty/stamps`, { count: 1 }],
      ["POST", `/v1/clients/${client.id}/loyalty/redeem`, undefined]
    ] as const
    for (const [method, path, body] of calls) {
      const response = await service.api(method, path, {
        key: shop.key,
        body,
        query: "verbose=1",
        idempotency_key: shop.newIdempotencyKey()
      })
      const issues = response.error?.details?.issues?.map((issue) => `${issue.in} ${issue.field}`)
      expect([response.status, issues], `${method} ${path}`).toEqual([400, ["query verbose"]])
    }
    expect((await shop.events()).length).toBe(1)
  })

  it("every response has Cache-Control: no-store, and none names the server's software (Specification, Errors)", async () => {
    const { headers } = await (await service.shop()).get("/v1/shop")
    expect(headers["cache-control"]).toBe("no-store")
    expect(headers["x-content-type-options"]).toBe("nosniff")
    expect(headers["x-powered-by"]).toBeUndefined()
  })

  it("input that is not HTTP also gets a response in the envelope (Specification, Lists and sync)", async () => {
    for (const bytes of [
      "nonsense\r\n\r\n",
      "GET /v1/shop HTTP/9.9\r\n\r\n",
      "GET /v1/shop HTTP/1.1\r\nbad header\r\n\r\n"
    ]) {
      const response = await service.wire.bare(bytes)
      expect(response, bytes).toMatch(/^HTTP\/1\.1 400 /)
      expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4))).toMatchObject({
        success: false,
        error: { code: "VALIDATION_ERROR" }
      })
    }
  })
})

describe("amounts and instants (Specification, Requests and responses)", () => {
  it("amounts are integers in minor units with the currency and its decimals (Specification, Requests and responses)", async () => {
    for (const [currency, decimals] of [
      ["TND", 3],
      ["EUR", 2],
      ["JPY", 0]
    ] as const) {
      const shop = await service.shop({ currency, decimals })
      const { money } = await shop.create({ service: "Hem", price_minor: 1234567, deposit_minor: 234567 })
      expect(money).toEqual({
        currency,
        decimals,
        price_minor: 1234567,
        deposit_minor: 234567,
        remaining_minor: 1000000,
        before_minor: null
      })
    }
  })

  it("every instant of every response and event is ISO 8601 in UTC with milliseconds and Z (Specification, Requests and responses; Tickets)", async () => {
    const shop = await service.shop({ time_zone: "Asia/Tokyo" })
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id, promised_at: "2026-12-24T18:00+09:00" })
    await shop.stamp(client.id, 10)
    await shop.quote(id, { price_minor: 5 })
    await shop.answerQuote(id, "accept")
    await shop.delay(id, { promised_at: "2026-12-25T18:00:00.1239+09:00" })
    await shop.part(id, { label: "Zip", status: "received", expected_at: "2026-12-01T00:00:00-11:00" })
    await shop.move(id, "ready", "collected")
    const ticket = await shop.ticket(id)
    expect(ticket).toMatchObject({
      promised_at: "2026-12-25T09:00:00.123Z",
      delay: { previous_promised_at: "2026-12-24T09:00:00.000Z" },
      part: { expected_at: "2026-12-01T11:00:00.000Z" }
    })
    const responses: ReadonlyArray<unknown> = [
      ticket,
      (await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", { updated_since: "2026-01-01" })).meta,
      (await shop.get(`/v1/clients/${client.id}`)).data,
      (await shop.redeem(client.id)).data,
      await shop.events()
    ]
    let seen = 0
    JSON.stringify(responses, (key, value: unknown) => {
      if ((key.endsWith("_at") || key === "synced_until") && value !== null) {
        expect(value, key).toMatch(INSTANT)
        seen++
      }
      return value
    })
    expect(seen).toBeGreaterThan(40)
  })
})
