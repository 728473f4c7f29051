import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, MINUTE, NOBODY, TestService } from "../TestService.js"
import type { CardJson, TestShop } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 45 })
})
afterAll(() => service.close())

const BLANK: CardJson = { balance: 0, lifetime: 0, rewards_available: 0, rewards_redeemed: 0, updated_at: null }

describe("GET /v1/clients?phone= (Specification, Endpoints)", () => {
  it("a look-up by phone number, in any international format, returns the client with that number (Specification, Endpoints; Tickets)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop, { phone: "+21622333444" })
    const shown = { id: client.id, display_name: "Amira Ben Salah", tickets_open: 0, tickets_total: 0, loyalty: BLANK }
    const spellings = [
      "%2B21622333444",
      "+21622333444",
      "%2021622333444",
      "%20%2B21622333444",
      "+216+22+333+444",
      "%2B216%2022%20333%20444",
      "%2B216-22-333-444",
      "%2B%28216%2922.333.444"
    ]
    for (const spelling of spellings) {
      const response = await shop.get("/v1/clients", `phone=${spelling}`)
      expect([response.status, response.data], spelling).toEqual([200, shown])
      expect(response.meta).toBeUndefined()
    }
  })

  it("a missing, national or invalid phone is a 400, and so is any other parameter (Specification, Endpoints; Errors)", async () => {
    const shop = await service.shop()
    const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["", ["query phone"]],
      ["phone=", ["query phone"]],
      ["phone=22333444", ["query phone"]],
      ["phone=%", ["query phone"]],
      ["phone=%2B216%ff", ["query phone"]],
      ["phone=0021622333444", ["query phone"]],
      ["phone=%2B", ["query phone"]],
      ["phone=%2B2162", ["query phone"]],
      ["phone=%2B21622333444%3Bext%3D1", ["query phone"]],
      ["phone=+21622333444&phone=+21622333444", ["query phone"]],
      ["phone=%2B21622333444&name=x", ["query name"]],
      ["name=x", ["query name", "query phone"]],
      [`phone=%2B${"2".repeat(70)}`, ["query phone"]]
    ]
    for (const [query, problems] of rows) {
      const response = await shop.get("/v1/clients", query)
      const issues = response.error?.details?.issues?.map((issue) => `${issue.in} ${issue.field}`)
      expect([response.status, issues?.sort()], query).toEqual([400, problems])
    }
  })

  it("a look-up returns only clients whom the shop knows by an accepted ticket or a visit to the counter (Specification, Endpoints)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const client = await service.client()
    const status = async (of: TestShop) => (await of.get("/v1/clients", { phone: client.phone })).status
    expect([await status(shop), await status(other)]).toEqual([404, 404])
    await shop.create({ service: "Hem", client_phone: client.phone })
    expect(await status(shop)).toBe(404)
    await service.answerOffer(client, "accept")
    expect([await status(shop), await status(other)]).toEqual([200, 404])
    await service.visit(client, other)
    expect([await status(shop), await status(other)]).toEqual([200, 200])
  })

  it("an unknown number and the number of a client who blocked the shop give the same 404 (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const blocker = await service.blocker(shop)
    const [unknown, blocked] = [
      await shop.get("/v1/clients", { phone: "+21629999999" }),
      await shop.get("/v1/clients", { phone: blocker.phone })
    ]
    expect([unknown.status, unknown.text]).toEqual([404, blocked.text])
  })
})

describe("GET /v1/clients/{id} (Specification, Endpoints)", () => {
  it("the response has the display name, open and total ticket counts and the loyalty card, for an id in upper or lower case (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.create({ service: "Hem", client_id: client.id })
    const shown = { id: client.id, display_name: "Amira Ben Salah", tickets_open: 1, tickets_total: 1, loyalty: BLANK }
    expect((await shop.get(`/v1/clients/${client.id}`)).data).toEqual(shown)
    expect((await shop.get(`/v1/clients/${client.id.toUpperCase()}`)).data).toEqual(shown)
  })

  it("a client whom only another shop knows is a 404 (Specification, Endpoints; Clients and loyalty)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const client = await service.known(other)
    expect((await shop.get(`/v1/clients/${client.id}`)).status).toBe(404)
    expect((await shop.get(`/v1/clients/${NOBODY}`)).status).toBe(404)
  })
})

describe("GET /v1/clients/{id}/loyalty (Specification, Endpoints)", () => {
  it("the response has the shop's programme and the card (Specification, Endpoints; Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    expect((await shop.get(`/v1/clients/${client.id}/loyalty`)).data).toEqual({
      program: { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" },
      card: BLANK
    })
  })

  it("while the programme is off the response is a 200 with active false and the current card (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.stamp(client.id, 7)
    const updated_at = service.iso()
    await shop.change({ program: { active: false, name: null, reward_label: null } })
    service.clock.advance(DAY)
    expect((await shop.get(`/v1/clients/${client.id}/loyalty`)).data).toEqual({
      program: { active: false, name: null, stamps_required: 10, stamps_per_ticket: 1, reward_label: null },
      card: { balance: 7, lifetime: 7, rewards_available: 0, rewards_redeemed: 0, updated_at }
    })
  })

  it("a client has a separate card in each shop (Specification, Keys and scopes)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const client = await service.known(shop)
    await service.visit(client, other)
    await shop.stamp(client.id, 7)
    const { data } = await other.get<{ card: CardJson }>(`/v1/clients/${client.id}/loyalty`)
    expect(data.card).toEqual(BLANK)
  })
})

describe("POST /v1/clients/{id}/loyalty/stamps (Specification, Endpoints)", () => {
  it("the response has the card, the added stamps and the number of unlocked rewards (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop({ program: { active: true, stamps_required: 3 } })
    const client = await service.known(shop)
    const rows = [
      [1, 1, 0, 0],
      [1, 2, 0, 0],
      [1, 3, 1, 1],
      [10, 13, 4, 3],
      [2, 15, 5, 1],
      [2, 17, 5, 0]
    ] as const
    for (const [count, balance, rewards_available, rewards_unlocked] of rows) {
      service.clock.advance(MINUTE)
      const response = await shop.stamp(client.id, count)
      expect(response.status).toBe(200)
      expect(response.data).toEqual({
        card: { balance, lifetime: balance, rewards_available, rewards_redeemed: 0, updated_at: service.iso() },
        added: count,
        rewards_unlocked
      })
      expect(response.meta).toEqual({ replayed: false })
    }
    expect(await shop.events()).toEqual([])
  })

  it("count is required and is a whole number from 1 to 10, and any other field is refused (Specification, Endpoints; Limits)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    for (const count of [0, 11, -1, 1.5, "1", null, true, [1], {}, 1e9]) {
      const response = await shop.stamp(client.id, count)
      const issues = response.error?.details?.issues
      expect([response.status, issues], String(count)).toMatchObject([400, [{ in: "body", field: "count" }]])
    }
    const missing = await shop.post(`/v1/clients/${client.id}/loyalty/stamps`, {}, { idempotency_key: "m" })
    expect(missing.error.details?.issues).toMatchObject([{ in: "body", field: "count" }])
    const extra = await shop.post(
      `/v1/clients/${client.id}/loyalty/stamps`,
      { count: 1, why: "x" },
      { idempotency_key: "e" }
    )
    expect(extra.error.details?.issues).toMatchObject([{ in: "body", field: "why" }])
    for (const count of [1, 10]) expect((await shop.stamp(client.id, count)).status).toBe(200)
  })

  it("while the programme is off the response is a 409 with the reason LOYALTY_OFF, and the card is unchanged (Specification, Endpoints)", async () => {
    const shop = await service.shop({ program: { active: false } })
    const client = await service.known(shop)
    const response = await shop.stamp(client.id, 1)
    expect([response.status, response.error.code, response.error.details]).toEqual([
      409,
      "CONFLICT",
      { reason: "LOYALTY_OFF" }
    ])
    const { data } = await shop.get<{ card: CardJson }>(`/v1/clients/${client.id}/loyalty`)
    expect(data.card).toEqual(BLANK)
  })
})

describe("POST /v1/clients/{id}/loyalty/redeem (Specification, Endpoints)", () => {
  const withStamps = async (...counts: ReadonlyArray<number>) => {
    const shop = await service.shop()
    const client = await service.known(shop)
    for (const count of counts) await shop.stamp(client.id, count)
    return { shop, client }
  }

  it("a redemption subtracts stamps_required from the balance, leaves lifetime unchanged, and returns the reward (Specification, Clients and loyalty)", async () => {
    const { shop, client } = await withStamps(10, 5)
    service.clock.advance(MINUTE)
    const response = await shop.redeem(client.id)
    expect([response.status, response.meta]).toEqual([200, { replayed: false }])
    expect(response.data).toEqual({
      card: { balance: 5, lifetime: 15, rewards_available: 0, rewards_redeemed: 1, updated_at: service.iso() },
      reward: { label: "A hem", redeemed_at: service.iso() }
    })
    expect(await shop.events()).toEqual([])
  })

  it("a reward without a label has the label null (Specification, Clients and loyalty)", async () => {
    const { shop, client } = await withStamps(10)
    await shop.change({ program: { reward_label: null } })
    expect((await shop.redeem(client.id)).data.reward).toEqual({ label: null, redeemed_at: service.iso() })
  })

  it("without a reward the response is 409 NO_REWARD, and while the programme is off 409 LOYALTY_OFF (Specification, Clients and loyalty)", async () => {
    const { shop, client } = await withStamps(9)
    expect((await shop.redeem(client.id)).error).toMatchObject({ code: "CONFLICT", details: { reason: "NO_REWARD" } })
    await shop.change({ program: { active: false } })
    expect((await shop.redeem(client.id)).error).toMatchObject({ code: "CONFLICT", details: { reason: "LOYALTY_OFF" } })
  })

  it("a redemption accepts no body, an empty body and an empty object, and refuses any field (Specification, Endpoints; Errors)", async () => {
    const { shop, client } = await withStamps(10)
    const path = `/v1/clients/${client.id}/loyalty/redeem`
    for (const body of [{ count: 1 }, { reward: "x" }, [], [1], "x", 5, true]) {
      const response = await shop.post(path, body, { idempotency_key: shop.newIdempotencyKey() })
      expect([response.status, response.error?.details?.issues?.[0]?.in], JSON.stringify(body)).toEqual([400, "body"])
    }
    const idempotency_key = shop.newIdempotencyKey()
    const headers = { "content-type": "application/json" }
    expect((await shop.post(path, undefined, { idempotency_key })).meta).toEqual({ replayed: false })
    expect((await shop.post(path, {}, { idempotency_key })).meta).toEqual({ replayed: true })
    expect((await shop.post(path, undefined, { idempotency_key, raw: "", headers })).meta).toEqual({ replayed: true })
    expect((await shop.post(path, undefined, { idempotency_key, raw: " { } " })).meta).toEqual({ replayed: true })
  })

  it("rewards_available is floor(balance / stamps_required) of the current programme (Specification, Clients and loyalty)", async () => {
    const { shop, client } = await withStamps(10, 9)
    const available = async () =>
      (await shop.get<{ card: CardJson }>(`/v1/clients/${client.id}/loyalty`)).data.card.rewards_available
    expect(await available()).toBe(1)
    await shop.change({ program: { stamps_required: 3 } })
    expect(await available()).toBe(6)
    await shop.redeem(client.id)
    expect(await available()).toBe(5)
    await shop.change({ program: { stamps_required: 100 } })
    expect(await available()).toBe(0)
  })

  it("the loyalty of an unknown client, or of another shop's, is a 404 (Specification, Endpoints)", async () => {
    const { client } = await withStamps(10)
    const shop = await service.shop()
    for (const id of [NOBODY, client.id]) {
      expect((await shop.get(`/v1/clients/${id}/loyalty`)).status).toBe(404)
      expect((await shop.stamp(id, 1)).status).toBe(404)
      expect((await shop.redeem(id)).status).toBe(404)
    }
  })
})
