import { describe, expect, it } from "vitest"
import { DAY, HOUR, later, MINUTE, Sandbox, SECOND } from "./Sandbox.js"

describe("Every rule follows the sandbox clock (Specification, Sandbox)", () => {
  it("a collected ticket can be reopened until 24 hours later, and no longer a millisecond after that (Specification, States)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const shop = await sandbox.shop()
    const [early, late] = [await sandbox.ticket(shop), await sandbox.ticket(shop)]
    for (const ticket of [early, late])
      for (const status of ["ready", "collected"]) await sandbox.status(shop, ticket, status)
    await sandbox.clock({ advance_ms: DAY })
    expect((await sandbox.status(shop, early, "workshop")).status).toBe(200)
    await sandbox.clock({ advance_ms: 1 })
    const refused = await sandbox.status(shop, late, "workshop")
    expect([refused.status, refused.error.details.reason]).toEqual([409, "REOPEN_WINDOW"])
  })

  it("limits per minute reset after a minute of the sandbox clock, so on a frozen clock only when it is moved (Specification, Limits)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const shop = await sandbox.shop()
    const ask = () => sandbox.ask("GET", "/v1/shop", undefined, { bearer: shop.key })
    for (let n = 0; n < 120; n++) expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect([refused.status, refused.error.details.limit]).toEqual([429, "requests_per_minute"])
    expect(refused.headers["RateLimit-Reset"]).toBe("60")
    sandbox.real.pass(HOUR)
    expect((await ask()).status).toBe(429)
    await sandbox.clock({ advance_ms: MINUTE - 1 })
    expect((await ask()).headers["RateLimit-Reset"]).toBe("1")
    await sandbox.clock({ advance_ms: 1 })
    expect((await ask()).status).toBe(200)
  })

  it("tickets from the API and the app count per hour and per calendar day (Specification, Limits)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ set: "2026-11-21T23:00:00Z", freeze: true })
    const shop = await sandbox.shop()
    const create = () => sandbox.ask("POST", `/sandbox/shops/${shop.id}/tickets`, { service: "Hem" })
    const fill = async () => {
      for (let n = 0; n < 150; n++) expect((await create()).status).toBe(201)
      return (await create()).error.details.limit
    }
    for (let hour = 0; hour < 3; hour++) {
      expect(await fill()).toBe("tickets_per_hour")
      await sandbox.clock({ advance_ms: HOUR })
    }
    expect(await fill()).toBe("tickets_per_day")
    // Midnight in Tunis is 23:00 UTC.
    await sandbox.clock({ set: "2026-11-22T22:59:59.999Z" })
    const refused = await create()
    expect([refused.status, refused.headers["RateLimit-Reset"], refused.headers["Retry-After"]]).toEqual([
      429,
      "1",
      "1"
    ])
    await sandbox.clock({ advance_ms: 1 })
    const accepted = await create()
    expect([accepted.status, accepted.headers["RateLimit-Limit"]]).toEqual([201, "120"])
  })

  it("stamps count until the shop's own midnight (Specification, Clients and loyalty)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ set: "2026-11-21T22:00:00Z", freeze: true })
    const shop = await sandbox.shop()
    await sandbox.good("PATCH", `/sandbox/shops/${shop.id}`, { program: { active: true } })
    const { id } = await sandbox.person()
    await sandbox.good("POST", `/sandbox/clients/${id}/visits`, { shop_id: shop.id })
    const stamp = () =>
      sandbox.ask(
        "POST",
        `/v1/clients/${id}/loyalty/stamps`,
        { count: 10 },
        {
          bearer: shop.key,
          idempotency_key: sandbox.newIdempotencyKey()
        }
      )
    expect([(await stamp()).status, (await stamp()).status, (await stamp()).status]).toEqual([200, 200, 429])
    await sandbox.clock({ set: "2026-11-21T22:59:59.999Z" })
    expect((await stamp()).status).toBe(429)
    await sandbox.clock({ set: "2026-11-21T23:00:00Z" })
    expect((await stamp()).data.card.balance).toBe(30)
  })

  it("an Idempotency-Key is valid for thirty days of the sandbox clock (Specification, Idempotency)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const shop = await sandbox.shop()
    const create = async () => {
      const { status, data, meta } = await sandbox.ask(
        "POST",
        "/v1/tickets",
        { service: "Hem" },
        {
          bearer: shop.key,
          idempotency_key: "till 1"
        }
      )
      return [status, data.number, meta.replayed]
    }
    expect(await create()).toEqual([201, 1, false])
    await sandbox.clock({ advance_ms: 30 * DAY - 1 })
    expect(await create()).toEqual([200, 1, true])
    await sandbox.clock({ advance_ms: 1 })
    expect(await create()).toEqual([201, 2, false])
  })

  it("all instants in responses come from the sandbox clock", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ advance_ms: HOUR, freeze: true })
    const shop = await sandbox.shop()
    const ticket = await sandbox.ticket(shop)
    await sandbox.clock({ advance_ms: SECOND })
    const { data } = await sandbox.status(shop, ticket, "ready")
    expect([data.created_at, data.ready_at, data.updated_at]).toEqual([
      later(HOUR),
      later(HOUR + SECOND),
      later(HOUR + SECOND)
    ])
    expect(await sandbox.events(shop)).toEqual([
      `ticket.created ${later(HOUR)}`,
      `ticket.ready ${later(HOUR + SECOND)}`
    ])
  })
})
