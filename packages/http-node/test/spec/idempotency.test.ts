import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, NOBODY, TestService } from "../TestService.js"
import type { ApiResponse, Call } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 33 })
})
afterAll(() => service.close())

const withoutRequestId = ({ status, headers, text }: ApiResponse) => {
  const { "request-id": _, date: __, ...rest } = headers
  return { status, text, headers: rest }
}

const reused = { code: "CONFLICT", details: { reason: "IDEMPOTENCY_KEY_REUSED" } }

describe("the Idempotency-Key (Specification, Endpoints; Idempotency)", () => {
  it("a missing or empty Idempotency-Key, or one of more than 80 characters, is a 400 for all three operations (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const operations = [
      ["/v1/tickets", { service: "Hem" }],
      [`/v1/clients/${client.id}/loyalty/stamps`, { count: 1 }],
      [`/v1/clients/${client.id}/loyalty/redeem`, undefined]
    ] as const
    for (const [path, body] of operations) {
      const bad: ReadonlyArray<Call> = [
        {},
        { idempotency_key: "" },
        { idempotency_key: "   " },
        { idempotency_key: "k".repeat(81) }
      ]
      for (const call of bad) {
        const response = await shop.post(path, body, call)
        const issues = response.error?.details?.issues
        expect([response.status, issues], `${path} ${call.idempotency_key}`).toMatchObject([
          400,
          [{ in: "header", field: "Idempotency-Key" }]
        ])
      }
    }
    for (const idempotency_key of ["k", "k".repeat(80), 'a b/c:d;e,f="g"']) {
      expect((await shop.post("/v1/tickets", { service: "Hem" }, { idempotency_key })).status).toBe(201)
    }
    expect((await shop.stamp(client.id, 10, { idempotency_key: "s".repeat(80) })).status).toBe(200)
    expect((await shop.redeem(client.id, { idempotency_key: "r" })).status).toBe(200)
  })

  it("a replayed create is a 200 with the same ticket, replayed true and the Idempotent-Replayed header, and creates no duplicate (Specification, Endpoints; Lists and sync)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const body = { service: "Hem", items: [{ label: "a" }, { label: "b" }], client_phone: "+21627000111" }
    const first = await shop.tryCreate(body, { idempotency_key })
    expect([first.status, first.meta, first.headers["idempotent-replayed"]]).toEqual([
      201,
      { replayed: false },
      undefined
    ])
    service.clock.advance(HOUR)
    const replay = await shop.tryCreate(body, { idempotency_key })
    expect([replay.status, replay.meta, replay.headers["idempotent-replayed"]]).toEqual([
      200,
      { replayed: true },
      "true"
    ])
    expect(replay.data).toEqual(first.data)
    expect((await shop.get<ReadonlyArray<unknown>>("/v1/tickets")).data).toHaveLength(1)
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
  })

  it("a replay returns the first response unchanged, even if the ticket has changed since (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const first = await shop.create({ service: "Hem" }, { idempotency_key })
    await shop.move(first.id, "ready", "collected")
    expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key })).data).toEqual(first)
  })

  it("requests that differ only in the order of fields, spaces, null or an explicit default count as the same (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create(
      { service: "Hem", price_minor: 5, item: "Coat", promised_at: "2026-12-01T10:00:00Z" },
      { idempotency_key }
    )
    const same = [
      '{"item":"Coat","promised_at":"2026-12-01T10:00:00Z","price_minor":5,"service":"Hem"}',
      '{ "service" : " Hem ", "price_minor": 5.0, "item": "Coat\\n", "promised_at": "2026-12-01T10:00:00.000Z" }',
      '{"service":"\\u0048em","price_minor":5,"item":"Coat","promised_at":"2026-12-01T11:00:00+01:00","type":"repair"}',
      '{"service":"Hem","price_minor":5,"item":"Coat","promised_at":"2026-12-01T10:00:00Z","type":null,"description":null,"items":null}'
    ]
    for (const raw of same) {
      const response = await shop.post("/v1/tickets", undefined, { raw, idempotency_key })
      expect([response.status, response.meta], raw).toEqual([200, { replayed: true }])
    }
    expect(
      (await shop.post("/v1/tickets", undefined, { raw: same[0]!, idempotency_key: ` ${idempotency_key} ` })).status
    ).toBe(200)
  })

  it("requests that differ only in the spelling of the phone number or of ids count as the same (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "Hem", client_phone: "+21627000222", client_id: client.id }, { idempotency_key })
    const again = { service: "Hem", client_phone: "+216 27 000 222", client_id: client.id.toUpperCase() }
    expect((await shop.tryCreate(again, { idempotency_key })).meta).toEqual({ replayed: true })
    const stamps = shop.newIdempotencyKey()
    await shop.stamp(client.id, 2, { idempotency_key: stamps })
    expect((await shop.stamp(client.id.toUpperCase(), 2, { idempotency_key: stamps })).meta).toEqual({ replayed: true })
  })

  it("the same key with any other body is 409 IDEMPOTENCY_KEY_REUSED, and changes nothing (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const items = [{ label: "a" }, { label: "b" }]
    const first = { service: "Hem", item: "Coat", price_minor: 5, items }
    await shop.create(first, { idempotency_key })
    const others = [
      { ...first, service: "hem" },
      { ...first, item: undefined },
      { ...first, type: "prepare" },
      { ...first, price_minor: 6 },
      { ...first, deposit_minor: 0 },
      { ...first, items: [...items].reverse() },
      { ...first, items: [...items, { label: "c" }] },
      { ...first, external_ref: "x" }
    ]
    for (const body of others) {
      const response = await shop.tryCreate(body, { idempotency_key })
      expect([response.status, response.error], JSON.stringify(body)).toMatchObject([409, reused])
    }
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
    expect((await shop.tryCreate(first, { idempotency_key })).status).toBe(200)
  })

  it("keys that differ only in case are different keys (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    expect((await shop.tryCreate({ service: "A" }, { idempotency_key: "key" })).status).toBe(201)
    expect((await shop.tryCreate({ service: "B" }, { idempotency_key: "KEY" })).status).toBe(201)
  })

  it("the same Idempotency-Key is independent for each operation and each API key (Specification, Idempotency)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const client = await service.known(shop)
    const second = await shop.newKey()
    const idempotency_key = "the one key"
    const responses = [
      await shop.tryCreate({ service: "Hem" }, { idempotency_key }),
      await shop.stamp(client.id, 10, { idempotency_key }),
      await shop.redeem(client.id, { idempotency_key }),
      await shop.tryCreate({ service: "Hem" }, { idempotency_key, key: second.key }),
      await other.tryCreate({ service: "Hem" }, { idempotency_key })
    ]
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 201, 201])
    for (const { meta } of responses) expect(meta).toEqual({ replayed: false })
  })

  it("the path parameter is part of the request, so the same key for another client is a 409 (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const [a, b] = [await service.known(shop), await service.known(shop)]
    const [stamps, redeem] = [shop.newIdempotencyKey(), shop.newIdempotencyKey()]
    await shop.stamp(a.id, 10, { idempotency_key: stamps })
    expect((await shop.stamp(b.id, 10, { idempotency_key: stamps })).error).toMatchObject(reused)
    expect((await shop.stamp(a.id, 9, { idempotency_key: stamps })).error).toMatchObject(reused)
    await shop.stamp(b.id, 10)
    await shop.redeem(a.id, { idempotency_key: redeem })
    expect((await shop.redeem(b.id, { idempotency_key: redeem })).error).toMatchObject(reused)
  })

  it("only successes are stored, so a corrected request with the same key succeeds (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const [create, redeem] = [shop.newIdempotencyKey(), shop.newIdempotencyKey()]
    expect((await shop.tryCreate({ service: "" }, { idempotency_key: create })).status).toBe(400)
    expect((await shop.tryCreate({ service: "fuck" }, { idempotency_key: create })).status).toBe(422)
    expect((await shop.tryCreate({ service: "Hem", client_id: NOBODY }, { idempotency_key: create })).status).toBe(404)
    expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key: create })).status).toBe(201)
    expect((await shop.redeem(client.id, { idempotency_key: redeem })).status).toBe(409)
    await shop.stamp(client.id, 10)
    expect((await shop.redeem(client.id, { idempotency_key: redeem })).status).toBe(200)
  })

  it("an Idempotency-Key is valid for 30 days, and can be used for a new request afterwards (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "Hem" }, { idempotency_key })
    service.clock.advance(30 * DAY - 1)
    expect((await shop.tryCreate({ service: "Hem" }, { idempotency_key })).meta).toEqual({ replayed: true })
    service.clock.advance(1)
    const response = await shop.tryCreate({ service: "Other" }, { idempotency_key })
    expect([response.status, response.meta, response.data.number]).toEqual([201, { replayed: false }, 2])
  })

  it("replays of stamps and redemptions return the first card with 200, and are not executed again (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const [stamps, redeem] = [shop.newIdempotencyKey(), shop.newIdempotencyKey()]
    const result = await shop.stamp(client.id, 10, { idempotency_key: stamps })
    const spent = await shop.redeem(client.id, { idempotency_key: redeem })
    service.clock.advance(MINUTE)
    for (const [first, again] of [
      [result, await shop.stamp(client.id, 10, { idempotency_key: stamps })],
      [spent, await shop.redeem(client.id, { idempotency_key: redeem })]
    ] as const) {
      expect([first.status, again.status]).toEqual([200, 200])
      expect(again.data).toEqual(first.data)
      expect([again.meta, again.headers["idempotent-replayed"]]).toEqual([{ replayed: true }, "true"])
    }
    const { data } = await shop.get<{ readonly loyalty: unknown }>(`/v1/clients/${client.id}`)
    expect(data.loyalty).toMatchObject({ balance: 0, lifetime: 10, rewards_redeemed: 1 })
  })

  it("a replay returns the client of the first response even if the client has blocked the shop since, and a new request returns client null (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const idempotency_key = shop.newIdempotencyKey()
    const body = { service: "Hem", client_id: client.id }
    const first = await shop.create(body, { idempotency_key })
    await service.block(client, shop)
    const again = await shop.tryCreate(body, { idempotency_key })
    expect([again.status, again.data]).toEqual([200, first])
    expect((await shop.tryCreate(body)).status).toBe(404)
    expect((await shop.ticket(first.id)).client).toBeNull()
  })
})

describe("concurrent duplicates (Specification, Idempotency)", () => {
  it("thirty identical concurrent creates get one 201 and twenty-nine 200 with identical data (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const body = { service: "Hem", items: [{ label: "a" }, { label: "b" }] }
    const responses = await Promise.all(Array.from({ length: 30 }, () => shop.tryCreate(body, { idempotency_key })))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(29)
    expect(new Set(responses.map(({ data }) => JSON.stringify(data))).size).toBe(1)
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
  })

  it("ten concurrent redemptions of one reward under ten keys get one 200 and nine 409 NO_REWARD (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.stamp(client.id, 10)
    const responses = await Promise.all(Array.from({ length: 10 }, () => shop.redeem(client.id)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = responses.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(9)
    for (const { error } of refused) expect(error.details).toEqual({ reason: "NO_REWARD" })
  })

  it("ten concurrent moves to ready get one 200 and nine 409 SAME_STATE, and raise one event (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    const responses = await Promise.all(Array.from({ length: 10 }, () => shop.tryMove(id, "ready")))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = responses.filter(({ status }) => status === 409)
    expect(refused.map(({ error }) => error.details!.reason)).toEqual(Array(9).fill("SAME_STATE"))
    expect(await shop.eventTypes()).toEqual(["ticket.created", "ticket.ready"])
  })

  it("ten identical concurrent requests for stamps add them once, and their responses differ only in replayed (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const idempotency_key = shop.newIdempotencyKey()
    const responses = await Promise.all(Array.from({ length: 10 }, () => shop.stamp(client.id, 3, { idempotency_key })))
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(responses.filter(({ meta }) => meta.replayed === false)).toHaveLength(1)
    expect(new Set(responses.map(({ data }) => JSON.stringify(data))).size).toBe(1)
  })

  it("two concurrent creates with different bodies under one key get one 201 and one 409 (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    const responses = await Promise.all(["A", "B"].map((service) => shop.tryCreate({ service }, { idempotency_key })))
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it("the responses of two replays differ only in Request-Id and RateLimit-Remaining (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const idempotency_key = shop.newIdempotencyKey()
    await shop.create({ service: "Hem" }, { idempotency_key })
    const [a, b] = [
      await shop.tryCreate({ service: "Hem" }, { idempotency_key }),
      await shop.tryCreate({ service: "Hem" }, { idempotency_key })
    ]
    const { headers, ...rest } = withoutRequestId(a)
    const remaining = String(Number(headers["ratelimit-remaining"]) - 1)
    expect(withoutRequestId(b)).toEqual({ ...rest, headers: { ...headers, "ratelimit-remaining": remaining } })
  })
})
