import { Keys } from "@workshop/core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MINUTE, NOBODY, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 5 })
})
afterAll(() => service.close())

let addresses = 0
/** A new client address for each test, because requests without a valid key are counted by address. */
const address = () => `10.5.0.${++addresses}`

describe("the Authorization header (Specification, Keys and scopes)", () => {
  it("a missing, wrong or malformed Authorization header is 401 UNAUTHENTICATED, always with the same message (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    const from = address()
    const { key } = shop
    const odd = [
      undefined,
      "",
      key,
      "Bearer",
      "Bearer ",
      `Basic ${key}`,
      `Token ${key}`,
      `Bearer${key}`,
      `Bearer ${key}x`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key} ${key}`,
      `Bearer "${key}"`,
      `Bearer ${key},`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${key.replace("wk_live_", "")}`,
      "Bearer wk_live_",
      `Bearer wk_live_${"A".repeat(43)}`,
      `Bearer ${NOBODY}`,
      `Bearer ${shop.keyId}`,
      "Bearer null",
      "Bearer __proto__",
      `Bearer ${"x".repeat(5000)}`
    ]
    const first = await service.api("GET", "/v1/shop", { from })
    expect(first.headers["www-authenticate"]).toBe("Bearer")
    for (const authorization of odd) {
      const response = await service.api(
        "GET",
        "/v1/shop",
        authorization === undefined ? { from } : { from, headers: { authorization } }
      )
      expect([response.status, response.text], authorization).toEqual([401, first.text])
      expect(response.error).toMatchObject({ code: "UNAUTHENTICATED" })
      expect(response.error.details).toBeUndefined()
    }
  })

  it("a sandbox's test key is refused as a test key, whether or not it exists (Specification, Keys and scopes)", async () => {
    const from = address()
    const { key } = await service.shop()
    for (const test of [key.replace("wk_live_", "wk_test_"), "wk_test_stable-key", `wk_test_${"A".repeat(43)}`]) {
      const response = await service.api("GET", "/v1/shop", { from, headers: { authorization: `Bearer ${test}` } })
      expect([response.status, response.error.code, response.headers["www-authenticate"]]).toEqual([
        401,
        "UNAUTHENTICATED",
        "Bearer"
      ])
      expect(response.error.message).toBe(
        "This is a sandbox test key (wk_test_…), but this server has no sandbox. Send a key that begins with wk_live_."
      )
    }
  })

  it("the name of the scheme may be in any case, as HTTP allows (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const response = await service.api("GET", "/v1/shop", { headers: { authorization: `${scheme} ${shop.key}` } })
      expect(response.status).toBe(200)
    }
  })

  it("a key in the query or the body is ignored (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    for (const query of [`key=${shop.key}`, `access_token=${shop.key}`, `api_key=${shop.key}`]) {
      expect((await service.api("GET", "/v1/shop", { query, from: address() })).status).toBe(401)
    }
  })

  it("every endpoint checks the key before anything else (Specification, Endpoints; Errors)", async () => {
    const from = address()
    const endpoints = [
      ["GET", "/v1/shop"],
      ["POST", "/v1/tickets"],
      ["GET", "/v1/tickets?limit=0"],
      ["GET", "/v1/tickets/x"],
      ["GET", "/v1/tickets/by-number/x"],
      ["POST", "/v1/tickets/x/status"],
      ["POST", "/v1/tickets/x/notified"],
      ["GET", "/v1/clients"],
      ["GET", "/v1/clients/x"],
      ["GET", "/v1/clients/x/loyalty"],
      ["POST", "/v1/clients/x/loyalty/stamps"],
      ["POST", "/v1/clients/x/loyalty/redeem"]
    ] as const
    for (const [method, path] of endpoints) {
      expect((await service.api(method, path, { from, raw: "{" })).status, `${method} ${path}`).toBe(401)
    }
  })
})

describe("keys (Specification, Keys and scopes)", () => {
  it("a key is wk_live_ and 43 characters of base64url, and no two keys are equal (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    const keys = [shop.key]
    for (let i = 0; i < 4; i++) keys.push((await shop.newKey()).key)
    for (const key of keys) expect(key).toMatch(/^wk_live_[A-Za-z0-9_-]{43}$/)
    expect(new Set(keys).size).toBe(5)
  })

  it("a key gives access to its own shop only (Specification, Keys and scopes)", async () => {
    const [shop, otherShop] = [await service.shop(), await service.shop()]
    await otherShop.create()
    expect((await shop.get("/v1/tickets")).data).toEqual([])
    expect((await shop.get("/v1/shop")).data.id).toBe(shop.id)
    expect((await otherShop.get("/v1/shop")).data.id).toBe(otherShop.id)
  })

  it("two Authorization headers are a 400, even with valid keys, and count against the address (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const [good, from] = [`Bearer ${shop.key}`, address()]
    const remaining = []
    for (const authorization of [
      [good, good],
      [good, "Bearer wk_live_other"]
    ]) {
      const response = await shop.get("/v1/shop", "", { key: null, headers: { authorization }, from })
      expect([response.status, response.error.details!.issues]).toEqual([
        400,
        [{ in: "header", field: "Authorization", message: "is given twice; send it only once" }]
      ])
      remaining.push(response.limit.remaining)
    }
    expect(remaining).toEqual([119, 118])
  })

  it("a revoked key is refused at once, the shop's other keys stay valid, and a second revocation has no effect (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    const second = await shop.newKey()
    expect((await shop.get("/v1/shop", "", { key: second.key })).status).toBe(200)
    await shop.revoke(second.id)
    const response = await shop.get("/v1/shop", "", { key: second.key, from: address() })
    expect([response.status, response.error.code]).toEqual([401, "UNAUTHENTICATED"])
    await shop.revoke(second.id)
    expect((await shop.get("/v1/shop")).status).toBe(200)
    service.clock.advance(10 * MINUTE)
    expect((await shop.get("/v1/shop", "", { key: second.key, from: address() })).status).toBe(401)
  })

  it("a shop has at most five active keys, and a sixth is refused with TOO_MANY_KEYS until one is revoked (Specification, Keys and scopes; Sandbox)", async () => {
    const shop = await service.shop()
    const keys = []
    for (let i = 0; i < 4; i++) keys.push(await shop.newKey())
    const sixth = () =>
      service.refusal(
        Effect.flatMap(Keys, (keys) => keys.create(shop.id, { name: "6", scopes: ["tickets:read"] } as never))
      )
    expect(await sixth()).toBe("TooManyKeys")
    await shop.revoke(keys[0]!.id)
    expect((await shop.newKey()).key).toMatch(/^wk_live_/)
    expect(await sixth()).toBe("TooManyKeys")
    for (const { key } of keys.slice(1)) expect((await shop.get("/v1/shop", "", { key })).status).toBe(200)
  })
})

/** Each endpoint and the scope that it needs (Specification, Keys and scopes); null if every key has access. */
const ENDPOINTS = [
  ["GET", "/v1/shop", null],
  ["POST", "/v1/tickets", "tickets:write"],
  ["GET", "/v1/tickets", "tickets:read"],
  ["GET", "/v1/tickets/TICKET", "tickets:read"],
  ["GET", "/v1/tickets/by-number/1", "tickets:read"],
  ["POST", "/v1/tickets/TICKET/status", "tickets:write"],
  ["POST", "/v1/tickets/TICKET/notified", "tickets:write"],
  ["GET", "/v1/clients?phone=PHONE", "clients:read"],
  ["GET", "/v1/clients/CLIENT", "clients:read"],
  ["GET", "/v1/clients/CLIENT/loyalty", "clients:read"],
  ["POST", "/v1/clients/CLIENT/loyalty/stamps", "loyalty:write"],
  ["POST", "/v1/clients/CLIENT/loyalty/redeem", "loyalty:write"]
] as const

const BODIES: Readonly<Record<string, unknown>> = {
  "/v1/tickets": { service: "Hem" },
  "/v1/tickets/TICKET/status": { status: "ready" },
  "/v1/tickets/TICKET/notified": { channel: "sms" },
  "/v1/clients/CLIENT/loyalty/stamps": { count: 10 }
}

describe("scopes (Specification, Keys and scopes)", () => {
  for (const scope of ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const) {
    it(`a key with only ${scope} gives access to its endpoints and no others: 403 FORBIDDEN with details.scope (Specification, Keys and scopes)`, async () => {
      const shop = await service.shop()
      const client = await service.known(shop)
      const ticket = await shop.create()
      await shop.stamp(client.id, 10)
      const { key } = await shop.newKey([scope])
      for (const [method, path, needed] of ENDPOINTS) {
        const real = path
          .replace("TICKET", ticket.id)
          .replace("CLIENT", client.id)
          .replace("PHONE", encodeURIComponent(client.phone))
        const body = method === "POST" ? BODIES[path] : undefined
        const response = await service.api(method, real, { key, body, idempotency_key: shop.newIdempotencyKey() })
        const known = `${method} ${path}`
        if (needed === null || needed === scope) expect([200, 201], known).toContain(response.status)
        else {
          expect([response.status, response.error.code, response.error.details], known).toEqual([
            403,
            "FORBIDDEN",
            { scope: needed }
          ])
        }
      }
    })
  }

  it("HEAD needs the same scope as GET (Specification, Errors; Keys and scopes)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey(["tickets:write"])
    expect((await service.api("HEAD", "/v1/tickets", { key })).status).toBe(403)
  })

  it("two keys of one shop see the same data (Specification, Keys and scopes)", async () => {
    const shop = await service.shop()
    const reader = await shop.newKey(["tickets:read", "clients:read"])
    const ticket = await shop.create()
    const byReader = await shop.get(`/v1/tickets/${ticket.id}`, "", { key: reader.key })
    expect(byReader.data).toEqual(ticket)
    expect((await shop.get("/v1/shop", "", { key: reader.key })).data.scopes).toEqual(["tickets:read", "clients:read"])
  })
})

describe("a shop's flags (Specification, Errors)", () => {
  for (const active of [true, false]) {
    for (const approved of [true, false]) {
      for (const api_enabled of [true, false]) {
        const code = !active
          ? "ACCOUNT_DEACTIVATED"
          : !approved
            ? "SHOP_NOT_APPROVED"
            : !api_enabled
              ? "API_DISABLED"
              : "200"
        it(`a shop with active ${active}, approved ${approved}, API on ${api_enabled} gets ${code} at once, for reads and writes (Specification, Errors)`, async () => {
          const shop = await service.shop()
          expect((await shop.get("/v1/shop")).status).toBe(200)
          await shop.change({ active, approved, api_enabled })
          const responses = [
            await shop.get("/v1/shop"),
            await shop.tryCreate({ service: "Hem" }),
            await shop.get("/v1/nothing")
          ]
          const outcomes = responses.map(({ status, error }) => (status < 300 ? "200" : error.code))
          expect(outcomes).toEqual(code === "200" ? ["200", "200", "NOT_FOUND"] : [code, code, code])
          await shop.change({ active: true, approved: true, api_enabled: true })
          expect((await shop.get("/v1/shop")).status).toBe(200)
        })
      }
    }
  }
})
