import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NOBODY, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"
import type { ApiResponse } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 22 })
})
afterAll(() => service.close())

const INVALID = { service: "" }

/** A response's status and code, and the reason or the limit in its details. */
const outcome = ({ status, error, meta }: ApiResponse): string => {
  if (status < 300) return meta?.replayed === true ? "replay" : `${status}`
  const { reason, limit } = error.details ?? {}
  return [status, error.code, reason ?? limit].filter((part) => part !== undefined).join(" ")
}

/** Uses up the requests of the shop's key. */
const useUpRequests = async (shop: TestShop) => {
  await Promise.all(Array.from({ length: 120 }, () => shop.get("/v1/shop")))
}

/** Uses up the writes of the shop's key. */
const useUpWrites = async (shop: TestShop, writes = 30) => {
  await Promise.all(Array.from({ length: writes }, () => shop.tryCreate(INVALID)))
}

/** Uses up the shop's tickets of an hour, in the app. */
const useUpTickets = async (shop: TestShop) => {
  for (let i = 0; i < 150; i++) await shop.createInApp()
}

const useUpLookups = async (shop: TestShop) => {
  await Promise.all(Array.from({ length: 60 }, () => shop.get("/v1/clients", { phone: "+21629999999" })))
}

describe("the order of checks: a request with two errors gets the earlier error (Specification, Errors)", () => {
  it("401 comes before the limit on requests: a wrong key is a 401 even if the right key's limit is used up (Specification, Errors)", async () => {
    const shop = await service.shop()
    await useUpRequests(shop)
    expect(outcome(await shop.get("/v1/shop"))).toBe("429 TOO_MANY_ATTEMPTS requests_per_minute")
    expect(outcome(await shop.get("/v1/shop", "", { key: `${shop.key.slice(0, -1)}!` }))).toBe("401 UNAUTHENTICATED")
  })

  it("the limit on requests comes before the shop's flags (Specification, Errors)", async () => {
    const shop = await service.shop()
    await useUpRequests(shop)
    await shop.change({ active: false, approved: false, api_enabled: false })
    expect(outcome(await shop.get("/v1/shop"))).toBe("429 TOO_MANY_ATTEMPTS requests_per_minute")
  })

  it("ACCOUNT_DEACTIVATED comes before SHOP_NOT_APPROVED, and SHOP_NOT_APPROVED before API_DISABLED (Specification, Errors)", async () => {
    const shop = await service.shop()
    await shop.change({ active: false, approved: false, api_enabled: false })
    expect(outcome(await shop.get("/v1/shop"))).toBe("403 ACCOUNT_DEACTIVATED")
    await shop.change({ active: true })
    expect(outcome(await shop.get("/v1/shop"))).toBe("403 SHOP_NOT_APPROVED")
    await shop.change({ approved: true })
    expect(outcome(await shop.get("/v1/shop"))).toBe("403 API_DISABLED")
  })

  it("the shop's flags come before the 404 of an unknown route (Specification, Errors)", async () => {
    const shop = await service.shop()
    await shop.change({ api_enabled: false })
    expect(outcome(await shop.get("/v1/nothing"))).toBe("403 API_DISABLED")
    expect(outcome(await service.api("DELETE", "/v1/shop", { key: shop.key }))).toBe("403 API_DISABLED")
  })

  it("the 404 of an unknown route comes before the 403 of a missing scope (Specification, Errors)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey(["clients:read"])
    expect(outcome(await shop.post("/v1/tickets/x/nothing", {}, { key }))).toBe("404 NOT_FOUND")
    expect(outcome(await service.api("PUT", `/v1/tickets/${NOBODY}`, { key }))).toBe("404 NOT_FOUND")
  })

  it("the 403 of a missing scope comes before the limit on writes, and such a request does not count as a write (Specification, Errors; Limits)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey(["tickets:write"])
    for (let i = 0; i < 30; i++) {
      const response = await shop.stamp(NOBODY, 1, { key })
      expect(outcome(response)).toBe("403 FORBIDDEN")
    }
    expect(outcome(await shop.tryCreate({ service: "Hem" }, { key }))).toBe("201")
    for (let i = 0; i < 29; i++) await shop.tryCreate(INVALID, { key })
    expect(outcome(await shop.tryCreate(INVALID, { key }))).toBe("429 TOO_MANY_ATTEMPTS writes_per_minute")
    expect(outcome(await shop.stamp(NOBODY, 1, { key }))).toBe("403 FORBIDDEN")
  })

  it("the 403 of a missing scope comes before 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const { key } = await shop.newKey(["clients:read"])
    expect(outcome(await shop.post("/v1/tickets", undefined, { key, raw: "{" }))).toBe("403 FORBIDDEN")
    expect(outcome(await shop.get("/v1/tickets", "limit=0", { key }))).toBe("403 FORBIDDEN")
    expect(outcome(await shop.get("/v1/tickets/no-uuid", "", { key }))).toBe("403 FORBIDDEN")
  })

  it("the limit on writes comes before 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    await useUpWrites(shop)
    const limit = "429 TOO_MANY_ATTEMPTS writes_per_minute"
    expect(outcome(await shop.post("/v1/tickets", undefined, { raw: "{" }))).toBe(limit)
    expect(outcome(await shop.post("/v1/tickets", undefined, { raw: "x".repeat(70_000) }))).toBe(limit)
    expect(outcome(await shop.post("/v1/tickets/no-uuid/status", {}))).toBe(limit)
  })

  it("400 comes before a replay: a repeated key with an invalid body is a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "Hem" }, { idempotency_key })
    expect(outcome(await shop.tryCreate({ service: "Hem", colour: 1 }, { idempotency_key }))).toBe(
      "400 VALIDATION_ERROR"
    )
  })

  it("400 comes before the limit on look-ups, and such a request does not count as a look-up (Specification, Errors; Limits)", async () => {
    const shop = await service.shop()
    await useUpLookups(shop)
    expect(outcome(await shop.get("/v1/clients", { phone: "nobody" }))).toBe("400 VALIDATION_ERROR")
    expect(outcome(await shop.get("/v1/clients", { phone: "+21629999999" }))).toBe(
      "429 TOO_MANY_ATTEMPTS lookups_per_hour"
    )
  })

  it("the limit on look-ups comes before 404 and before a result (Specification, Errors)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await useUpLookups(shop)
    for (const phone of [client.phone, "+21629999999"]) {
      expect(outcome(await shop.get("/v1/clients", { phone }))).toBe("429 TOO_MANY_ATTEMPTS lookups_per_hour")
    }
  })

  it("400 comes before 404 (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect(outcome(await shop.tryMove(NOBODY, "open"))).toBe("400 VALIDATION_ERROR")
    expect(outcome(await shop.stamp(NOBODY, 11))).toBe("400 VALIDATION_ERROR")
    expect(outcome(await shop.tryCreate({ service: "", client_id: NOBODY }))).toBe("400 VALIDATION_ERROR")
  })

  it("a replay comes before 404, 409, 422 and the limits on tickets and stamps (Specification, Errors; Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const [create, stamps, redeem] = [shop.newIdempotencyKey(), shop.newIdempotencyKey(), shop.newIdempotencyKey()]
    const body = { service: "Sprocket hem", client_id: client.id }
    await shop.create(body, { idempotency_key: create })
    await shop.stamp(client.id, 10, { idempotency_key: stamps })
    await shop.redeem(client.id, { idempotency_key: redeem })
    await shop.stamp(client.id, 10)
    await service.block(client, shop)
    await shop.change({ program: { active: false }, forbidden_words: ["sprocket"] })
    await useUpTickets(shop).catch(() => undefined)
    expect(outcome(await shop.tryCreate({ service: "Hem" }))).toBe("429 TOO_MANY_ATTEMPTS tickets_per_hour")
    expect(outcome(await shop.tryCreate(body, { idempotency_key: create }))).toBe("replay")
    expect(outcome(await shop.stamp(client.id, 10, { idempotency_key: stamps }))).toBe("replay")
    expect(outcome(await shop.redeem(client.id, { idempotency_key: redeem }))).toBe("replay")
  })

  it("404 comes before 409: stamps for an unknown client while the programme is off are a 404 (Specification, Errors)", async () => {
    const shop = await service.shop({ program: { active: false } })
    expect(outcome(await shop.stamp(NOBODY, 1))).toBe("404 NOT_FOUND")
    expect(outcome(await shop.redeem(NOBODY))).toBe("404 NOT_FOUND")
  })

  it("404 comes before 422: a forbidden word for an unknown client is a 404 (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect(outcome(await shop.tryCreate({ service: "fuck", client_id: NOBODY }))).toBe("404 NOT_FOUND")
  })

  it("404 comes before the limit on tickets (Specification, Errors)", async () => {
    const shop = await service.shop()
    await useUpTickets(shop)
    expect(outcome(await shop.tryCreate({ service: "Hem", client_id: NOBODY }))).toBe("404 NOT_FOUND")
  })

  it("409 comes before 422: a repeated key with another body that contains a forbidden word is a 409 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "Hem" }, { idempotency_key })
    expect(outcome(await shop.tryCreate({ service: "fuck" }, { idempotency_key }))).toBe(
      "409 CONFLICT IDEMPOTENCY_KEY_REUSED"
    )
  })

  it("409 comes before the limit on stamps: with the programme off and the day's stamps used up the response is a 409 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.stamp(client.id, 10)
    await shop.stamp(client.id, 10)
    await shop.change({ program: { active: false } })
    expect(outcome(await shop.stamp(client.id, 1))).toBe("409 CONFLICT LOYALTY_OFF")
    await shop.change({ program: { active: true } })
    expect(outcome(await shop.stamp(client.id, 1))).toBe("429 TOO_MANY_ATTEMPTS stamps_per_day")
  })

  it("422 comes before the limit on tickets (Specification, Errors)", async () => {
    const shop = await service.shop()
    await useUpTickets(shop)
    expect(outcome(await shop.tryCreate({ service: "fuck" }))).toBe("422 PROFANITY")
    expect(outcome(await shop.tryCreate({ service: "Hem" }))).toBe("429 TOO_MANY_ATTEMPTS tickets_per_hour")
  })

  it("400 comes before 422 (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect(outcome(await shop.tryCreate({ service: "fuck", item: "" }))).toBe("400 VALIDATION_ERROR")
  })
})
