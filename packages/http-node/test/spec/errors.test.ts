import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, NOBODY, TestService } from "../TestService.js"
import { SECRET } from "./Faults.js"
import type { TestShop } from "./TestShop.js"
import type { ApiResponse } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 7 })
})
afterAll(() => service.close())

const statusAndCode = ({ status, error }: ApiResponse) => [status, error.code]

describe("the details of each error code (Specification, Errors)", () => {
  it("400 VALIDATION_ERROR names each issue's part, field and what to change (Specification, Errors)", async () => {
    const shop = await service.shop()
    const { error } = await shop.tryCreate({ service: "Hem", items: [{ label: "a" }, { label: "" }], colour: "red" })
    expect(error).toEqual({
      code: "VALIDATION_ERROR",
      message: expect.any(String),
      details: {
        issues: expect.arrayContaining([
          { in: "body", field: "items.1.label", message: expect.stringMatching(/1 to 200 characters/) },
          { in: "body", field: "colour", message: expect.stringMatching(/is unknown/) }
        ])
      }
    })
  })

  it("401 UNAUTHENTICATED and 404 NOT_FOUND have no details (Specification, Errors)", async () => {
    const shop = await service.shop()
    for (const response of [
      await service.api("GET", "/v1/shop"),
      await shop.get(`/v1/tickets/${NOBODY}`),
      await shop.get("/v1/x")
    ]) {
      expect(response.error.details).toBeUndefined()
    }
  })

  it("the details of a 409 CONFLICT have reason, and for a refused move also from, to, allowed and the current ticket (Specification, Errors)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id, updated_at } = await shop.create()
    expect((await shop.tryMove(id, "collected")).error.details).toEqual({
      reason: "INVALID_TRANSITION",
      from: "workshop",
      to: "collected",
      allowed: ["ready", "impossible"],
      state: "workshop",
      updated_at
    })
    expect((await shop.redeem(client.id)).error.details).toEqual({ reason: "NO_REWARD" })
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "A" }, { idempotency_key })
    expect((await shop.tryCreate({ service: "B" }, { idempotency_key })).error.details).toEqual({
      reason: "IDEMPOTENCY_KEY_REUSED"
    })
  })

  it("429 TOO_MANY_ATTEMPTS has only details.limit (Specification, Errors)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    for (const count of [10, 10]) await shop.stamp(client.id, count)
    const { error } = await shop.stamp(client.id, 1)
    expect([error.code, error.details]).toEqual(["TOO_MANY_ATTEMPTS", { limit: "stamps_per_day" }])
  })
})

describe("422 PROFANITY (Specification, Errors)", () => {
  const create = async (body: object, forbidden_words: ReadonlyArray<string> = []) => {
    const shop = await service.shop({ forbidden_words })
    return shop.tryCreate({ service: "Hem", ...body })
  }

  const forbidden: ReadonlyArray<readonly [field: string, body: object]> = [
    ["service", { service: "Fuck" }],
    ["service", { service: "une MERDE à coudre" }],
    ["service", { service: "shit!" }],
    ["item", { item: "(putain)" }],
    ["description", { description: "a\nfuck\tb" }],
    ["items.1.label", { items: [{ label: "a" }, { label: "fuck" }] }],
    ["items.0.service", { items: [{ label: "a", service: "Connard" }, { label: "b" }] }],
    ["service", { service: "fuck", item: "fuck" }]
  ]
  for (const [field, body] of forbidden) {
    it(`a create with ${JSON.stringify(body)} is a 422 with details.field ${field} (Specification, Errors)`, async () => {
      const response = await create(body)
      expect([response.status, response.error.code, response.error.details]).toEqual([422, "PROFANITY", { field }])
      expect(response.text).not.toMatch(/fuck|merde|putain|connard/i)
    })
  }

  it("only whole words are refused, so names and trades that contain a forbidden word are accepted (Specification, Errors)", async () => {
    for (const service of [
      "Scunthorpe",
      "Assemble the classic bass",
      "Shitake",
      "Cocktail dress",
      "Bitte d'amarrage",
      "Vestido negro con botones",
      "Ass'y lower housing",
      "Stop-cock",
      "Cul-de-sac",
      "Pussy bow blouse"
    ]) {
      expect((await create({ service })).status, service).toBe(201)
    }
  })

  it("external_ref is not checked for forbidden words (Specification, Errors)", async () => {
    expect((await create({ external_ref: "fuck" })).status).toBe(201)
  })

  it("a shop's own words and phrases are refused too, in upper or lower case (Specification, Errors; Sandbox)", async () => {
    const words = ["Sprocket", "blue moon"]
    expect(statusAndCode(await create({ service: "a SPROCKET" }, words))).toEqual([422, "PROFANITY"])
    expect(statusAndCode(await create({ item: "Once in a Blue  Moon" }, words))).toEqual([422, "PROFANITY"])
    expect((await create({ service: "sprockets, blue" }, words)).status).toBe(201)
    expect((await create({ service: "a sprocket" })).status).toBe(201)
    expect(statusAndCode(await create({ service: "fuck" }, words))).toEqual([422, "PROFANITY"])
  })

  it("a create with a refused text stores no ticket, event or Idempotency-Key and uses up no ticket number (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.tryCreate({ service: "fuck" }, { idempotency_key })
    expect(await shop.events()).toEqual([])
    const fixed = await shop.tryCreate({ service: "duck" }, { idempotency_key })
    expect([fixed.status, fixed.data.number, fixed.meta]).toEqual([201, 1, { replayed: false }])
  })
})

describe("responses if a port of the service fails (Specification, Errors)", () => {
  /** Requests that use each port. */
  const askers: Readonly<
    Record<"Store" | "Reads" | "Directory" | "RateLimits", (shop: TestShop) => Promise<ReadonlyArray<ApiResponse>>>
  > = {
    Store: async (shop) => [
      await shop.tryCreate({ service: "Hem" }),
      await shop.tryMove(NOBODY, "ready"),
      await shop.stamp(NOBODY, 1)
    ],
    Reads: async (shop) => [
      await shop.get("/v1/shop"),
      await shop.get("/v1/tickets"),
      await shop.get(`/v1/tickets/${NOBODY}`),
      await shop.get("/v1/tickets/by-number/1"),
      await shop.get("/v1/clients", { phone: "+21620123456" }),
      await shop.get(`/v1/clients/${NOBODY}/loyalty`)
    ],
    Directory: async (shop) => [await shop.get("/v1/shop"), await shop.tryCreate({ service: "Hem" })],
    RateLimits: async (shop) => [
      await shop.get("/v1/shop"),
      await shop.tryCreate({ service: "Hem" }),
      await service.api("GET", "/v1/shop")
    ]
  }
  const leaks = [
    "postgres",
    "hunter2",
    "db.internal",
    "sql",
    "Error",
    "stack",
    " at ",
    "/work",
    "node_modules",
    "StoreUnavailable",
    "_tag"
  ]

  for (const port of ["Store", "Reads", "Directory", "RateLimits"] as const) {
    it(`while ${port} is unavailable the response is 503 UNAVAILABLE with Retry-After, and afterwards requests succeed (Specification, Errors)`, async () => {
      const shop = await service.shop()
      service.clock.advance(HOUR)
      service.faults.set(port, "unavailable")
      const responses = await askers[port](shop).finally(() => service.faults.set(port, "none"))
      for (const response of responses) {
        expect(statusAndCode(response)).toEqual([503, "UNAVAILABLE"])
        expect(response.error.details).toBeUndefined()
        for (const leak of leaks) expect(response.text).not.toContain(leak)
      }
      expect((await shop.tryCreate({ service: "Hem" })).data.number).toBe(1)
    })
  }

  for (const port of ["Store", "Reads", "Directory"] as const) {
    it(`a defect in ${port} is 500 INTERNAL without a detail, and the log has the cause with the Request-Id (Specification, Errors)`, async () => {
      const shop = await service.shop()
      service.clock.advance(HOUR)
      service.faults.set(port, "dying")
      const responses = await askers[port](shop).finally(() => service.faults.set(port, "none"))
      for (const response of responses) {
        expect(statusAndCode(response)).toEqual([500, "INTERNAL"])
        expect(response.error.details).toBeUndefined()
        for (const leak of leaks) expect(response.text).not.toContain(leak)
        const logged = service.logs.filter((line) => line.includes(response.headers["request-id"]!))
        expect(logged).toHaveLength(1)
        expect(logged[0]).toContain(SECRET.slice(0, 20))
      }
      expect((await shop.tryCreate({ service: "Hem" })).data.number).toBe(1)
    })
  }

  it("a create that failed with 503 or 500 stores nothing, and a retry with its Idempotency-Key creates a ticket (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    for (const fault of ["unavailable", "dying"] as const) {
      const idempotency_key = shop.newIdempotencyKey()
      service.faults.set("Store", fault)
      const failed = await shop
        .tryCreate({ service: "Hem" }, { idempotency_key })
        .finally(() => service.faults.set("Store", "none"))
      expect([500, 503]).toContain(failed.status)
      expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key })).meta).toEqual({ replayed: false })
    }
    expect((await shop.get<ReadonlyArray<unknown>>("/v1/tickets")).data).toHaveLength(2)
  })

  it("a request with a 500 or 503 response counts against the limit on requests (Specification, Limits)", async () => {
    const shop = await service.shop()
    const before = (await shop.get("/v1/shop")).limit.remaining
    service.faults.set("Reads", "dying")
    await shop.get("/v1/shop").finally(() => service.faults.set("Reads", "none"))
    expect((await shop.get("/v1/shop")).limit.remaining).toBe(before - 2)
    service.clock.advance(DAY)
  })
})
