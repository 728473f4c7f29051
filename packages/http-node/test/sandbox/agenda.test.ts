import { describe, expect, it } from "vitest"
import { DAY, HOUR, type Json, later, MINUTE, NOBODY, Sandbox, SIXTY_DAYS } from "./Sandbox.js"

const opened = async () => {
  const sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
  return { sandbox, shop: await sandbox.shop() }
}

const agenda = async (sandbox: Sandbox, query = "") => {
  const due: Array<Json> = await sandbox.good("GET", "/sandbox/agenda", undefined, { query })
  return due.map(({ at, kind, number_label }) => [at, kind, number_label])
}

describe("Lengths of time that the sandbox reads (Specification, Sandbox)", () => {
  it("the clock can be advanced by days, hours, minutes, seconds and milliseconds, alone or combined", async () => {
    const { sandbox } = await opened()
    expect((await sandbox.clock({ advance: "60d" })).now).toBe(later(SIXTY_DAYS))
    expect((await sandbox.clock({ advance: "24h1ms" })).now).toBe(later(SIXTY_DAYS + DAY + 1))
    expect((await sandbox.clock({ to: later(90 * DAY) })).now).toBe(later(90 * DAY))
  })

  it("a length of time that cannot be read is refused with an example", async () => {
    const { sandbox } = await opened()
    for (const advance of ["soon", "1 month", "-1h", "5", ""]) {
      const { status, error } = await sandbox.ask("POST", "/sandbox/clock", { advance })
      expect([advance, status, error.details.issues]).toEqual([
        advance,
        400,
        [{ in: "body", field: "advance", message: expect.stringMatching(/such as 60d, 23h59m or 24h1ms/) }]
      ])
    }
    const invalid = [
      [{ to: "tomorrow" }, "body to"],
      [{ to: later(-1) }, "body to"],
      [{ to: "next" }, "body to"],
      [{ to: "next", advance: "1d" }, "body to"],
      [{ advance: "1d", advance_ms: 1 }, "body advance"],
      [{ advance: "999999999d" }, "body advance"]
    ] as const
    const empty = await Sandbox.open()
    for (const [move, issue] of invalid)
      expect([move, (await empty.ask("POST", "/sandbox/clock", move)).issues]).toEqual([move, [issue]])
    expect((await empty.ask("POST", "/sandbox/clock", { to: "tomorrow" })).error.details.issues[0].message).toBe(
      'must be "next", or a date and time such as 2026-11-20T10:20:42Z'
    )
  })

  it("the clock shows in words how far it is ahead of real time", async () => {
    const { sandbox } = await opened()
    sandbox.real.pass(MINUTE)
    const moved = await sandbox.good("POST", "/sandbox/clock", { advance: "1h" })
    expect(moved).toEqual({ now: later(HOUR), frozen: true, frozen_by: null, ahead_ms: HOUR - MINUTE })
  })
})

describe("The agenda (Specification, Sandbox)", () => {
  it("the agenda lists closures, ends of reopening, limit resets, ends of secrets and key expiries, soonest first", async () => {
    const { sandbox, shop } = await opened()
    const [ticket] = [await sandbox.ticket(shop), await sandbox.ticket(shop)]
    await sandbox.status(shop, ticket, "ready")
    await sandbox.status(shop, ticket, "collected")
    await sandbox.good("PUT", `/sandbox/shops/${shop.id}/webhook`, { url: "http://127.0.0.1:9/" })
    await sandbox.good("POST", `/sandbox/shops/${shop.id}/webhook/rotate`)
    const fair = { name: "fair", preset: "read", expires_at: later(2 * DAY) }
    await sandbox.good("POST", `/sandbox/shops/${shop.id}/keys`, fair)
    const due = await agenda(sandbox, `shop=${shop.id}`)
    expect(due).toEqual([
      [later(MINUTE), "limit_reset", null],
      [later(MINUTE), "limit_reset", null],
      [later(HOUR), "limit_reset", null],
      // Midnight in Tunis.
      ["2026-11-20T23:00:00.000Z", "limit_reset", null],
      [later(DAY), "reopen_end", "0001"],
      [later(DAY), "secret_end", null],
      [later(2 * DAY), "key_expiry", null],
      [later(SIXTY_DAYS), "closure", "0002"]
    ])
    expect(await agenda(sandbox, "limit=1")).toEqual(due.slice(0, 1))
  })

  it("`to: next` moves the clock to each entry in turn, to the millisecond", async () => {
    const { sandbox, shop } = await opened()
    await sandbox.ticket(shop)
    const stops: Array<string> = []
    for (let i = 0; i < 4; i++) stops.push((await sandbox.clock({ to: "next" })).now)
    expect(stops).toEqual([later(MINUTE), later(HOUR), "2026-11-20T23:00:00.000Z", later(SIXTY_DAYS)])
    const [listed] = await sandbox.good("GET", `/sandbox/shops/${shop.id}/tickets`)
    expect([listed.state, listed.next]).toEqual(["abandoned", null])
    expect((await sandbox.ask("POST", "/sandbox/clock", { to: "next" })).error.details.issues).toEqual([
      {
        in: "body",
        field: "to",
        message: "cannot be next, because nothing is scheduled; give an instant, or a length of time to advance"
      }
    ])
  })

  it("the agenda lists the end of a ticket's reopening until its last millisecond, and not afterwards", async () => {
    const { sandbox, shop } = await opened()
    const ticket = await sandbox.ticket(shop)
    await sandbox.status(shop, ticket, "ready")
    await sandbox.status(shop, ticket, "collected")
    await sandbox.clock({ advance: "24h" })
    expect(await agenda(sandbox)).toContainEqual([later(DAY), "reopen_end", "0001"])
    await sandbox.clock({ advance: "1ms" })
    expect((await agenda(sandbox)).filter(([, kind]) => kind === "reopen_end")).toEqual([])
  })

  it("the agenda of an unknown shop is a 404", async () => {
    const { sandbox } = await opened()
    expect((await sandbox.ask("GET", "/sandbox/agenda", undefined, { query: `shop=${NOBODY}` })).status).toBe(404)
  })
})

describe("GET and POST /sandbox/shops/{id}/limits (Specification, Sandbox)", () => {
  const gauge = (gauges: Array<Json>, name: string) => gauges.find((one) => one.name === name)

  it("the response lists the seven limits of a shop, each with its uses and the time of its reset", async () => {
    const { sandbox, shop } = await opened()
    await sandbox.ticket(shop)
    const gauges: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${shop.id}/limits`)
    expect(gauges.map(({ name, per, used, limit }) => [name, per, used, limit])).toEqual([
      ["requests_per_minute", "key", 1, 120],
      ["writes_per_minute", "key", 1, 30],
      ["tickets_per_hour", "shop", 1, 150],
      ["tickets_per_day", "shop", 1, 600],
      ["lookups_per_hour", "shop", 0, 60],
      ["lookups_per_day", "shop", 0, 300],
      ["unauthenticated_per_minute", "address", 0, 120]
    ])
    expect(gauge(gauges, "tickets_per_hour")).toMatchObject({ remaining: 149, resets_at: later(HOUR), key_id: null })
  })

  it("a limit can be used up by name, so that the next request is refused until it resets", async () => {
    const { sandbox, shop } = await opened()
    const path = `/sandbox/shops/${shop.id}/limits`
    const create = () =>
      sandbox.ask(
        "POST",
        "/v1/tickets",
        { service: "Hem" },
        { bearer: shop.key, idempotency_key: sandbox.newIdempotencyKey() }
      )
    for (const [name, wait] of [
      ["tickets_per_hour", "1h"],
      ["tickets_per_day", "24h"],
      ["writes_per_minute", "1m"],
      ["requests_per_minute", "1m"]
    ] as const) {
      const gauges: Array<Json> = await sandbox.good("POST", path, { name, use: "up" })
      expect(gauge(gauges, name).remaining).toBe(0)
      const refused = await create()
      expect([name, refused.status, refused.error.details]).toEqual([name, 429, { limit: name }])
      await sandbox.clock({ advance: wait })
      expect([name, (await create()).status]).toEqual([name, 201])
    }
  })

  it("an unknown name of a limit is refused", async () => {
    const { sandbox, shop } = await opened()
    const change = { name: "moves_per_day", use: "up" }
    expect((await sandbox.ask("POST", `/sandbox/shops/${shop.id}/limits`, change)).issues).toEqual(["body name"])
    expect((await sandbox.ask("GET", `/sandbox/shops/${NOBODY}/limits`)).status).toBe(404)
  })
})
