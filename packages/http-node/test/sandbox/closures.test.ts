import { Closer, type KeyId, type ShopId, TicketInput, Tickets } from "@workshop/core"
import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
import { Effect, Fiber, Layer, Schema } from "effect"
import { describe, expect, inject, it } from "vitest"
import { HandClock } from "./HandClock.js"
import { DAY, HOUR, type Json, later, MINUTE, Sandbox, SECOND, SIXTY_DAYS, START } from "./Sandbox.js"

const read = (sandbox: Sandbox, shop: { readonly key: string }, ticket: Json): Promise<Json> =>
  sandbox.good("GET", `/v1/tickets/${ticket.id}`, undefined, { bearer: shop.key })

describe("A move of the clock closes each ticket that is due on the way, at its own instant (Specification, Sandbox)", () => {
  it("a ticket in the workshop is closed sixty days after the shop's last change", async () => {
    const sandbox = await Sandbox.open()
    const shop = await sandbox.shop()
    const ticket = await sandbox.ticket(shop)
    await sandbox.clock({ advance_ms: SIXTY_DAYS - 1 })
    expect((await read(sandbox, shop, ticket)).state).toBe("workshop")
    await sandbox.clock({ advance_ms: 1 })
    expect(await read(sandbox, shop, ticket)).toMatchObject({
      state: "abandoned",
      abandon_reason: "no_news",
      abandoned_at: later(SIXTY_DAYS),
      updated_at: later(SIXTY_DAYS)
    })
    expect(await sandbox.events(shop)).toEqual([`ticket.created ${START}`, `ticket.abandoned ${later(SIXTY_DAYS)}`])
  })

  it("a ready ticket is closed sixty days after it became ready", async () => {
    const sandbox = await Sandbox.open()
    const shop = await sandbox.shop()
    const ticket = await sandbox.ticket(shop)
    await sandbox.clock({ advance_ms: DAY })
    await sandbox.status(shop, ticket, "ready")
    await sandbox.clock({ advance_ms: DAY })
    await sandbox.good("POST", `/sandbox/tickets/${ticket.id}/photo`, { photo_url: "https://p.example/1.jpg" })
    await sandbox.clock({ advance_ms: 100 * DAY })
    const due = later(DAY + SIXTY_DAYS)
    expect(await read(sandbox, shop, ticket)).toMatchObject({
      state: "abandoned",
      abandon_reason: "uncollected",
      abandoned_at: due,
      updated_at: due
    })
    expect((await sandbox.events(shop)).at(-1)).toBe(`ticket.abandoned ${due}`)
  })

  it("a much longer move also closes a ticket at its own instant, whether the clock runs or is frozen", async () => {
    for (const freeze of [true, false]) {
      const sandbox = await Sandbox.open()
      const shop = await sandbox.shop()
      await sandbox.ticket(shop)
      expect((await sandbox.clock({ set: "2030-01-01T00:00:00Z", freeze })).now).toBe("2030-01-01T00:00:00.000Z")
      expect((await sandbox.events(shop)).at(-1)).toBe(`ticket.abandoned ${later(SIXTY_DAYS)}`)
    }
  })

  it("tickets are closed in the order of time, across shops", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const shops = [await sandbox.shop(), await sandbox.shop(), await sandbox.shop()]
    const due: Array<string> = []
    for (const [step, at] of [2, 0, 1, 1, 2, 0, 0].entries()) {
      await sandbox.ticket(shops[at]!)
      due.push(later(step * MINUTE + SIXTY_DAYS))
      await sandbox.clock({ advance_ms: MINUTE })
    }
    await sandbox.clock({ advance_ms: 2 * SIXTY_DAYS })
    const events: Array<Json> = []
    for (const { id } of shops) events.push(...(await sandbox.good("GET", `/sandbox/shops/${id}/events`)))
    const closures = events.filter(({ type }) => type === "ticket.abandoned")
    // UUIDs of version 7 sort by creation.
    closures.sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(closures.map(({ created_at }) => created_at)).toEqual(due)
    expect(closures.map(({ data }) => data.ticket.abandoned_at)).toEqual(due)
  })

  it("a ticket that the shop delayed between two moves closes sixty days after the delay", async () => {
    const sandbox = await Sandbox.open()
    const shop = await sandbox.shop()
    const [left, delayed] = [await sandbox.ticket(shop), await sandbox.ticket(shop)]
    await sandbox.clock({ advance_ms: 59 * DAY })
    await sandbox.good("POST", `/sandbox/tickets/${delayed.id}/delay`, { promised_at: later(90 * DAY) })
    await sandbox.clock({ advance_ms: 59 * DAY })
    expect((await read(sandbox, shop, left)).abandoned_at).toBe(later(SIXTY_DAYS))
    expect((await read(sandbox, shop, delayed)).state).toBe("workshop")
    await sandbox.clock({ advance_ms: DAY })
    expect((await read(sandbox, shop, delayed)).abandoned_at).toBe(later(59 * DAY + SIXTY_DAYS))
  })

  it("one move closes thousands of tickets", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const shops: Array<{ readonly id: string; readonly key: string }> = []
    // On Postgres a few hundred tickets are enough, because they are closed one after another.
    const count = inject("store") === "postgres" ? 2 : 70
    for (let shop = 0; shop < count; shop++) shops.push(await sandbox.shop())
    const input = Schema.decodeSync(TicketInput)({ service: "Hem" })
    const filling = Effect.gen(function* () {
      const tickets = yield* Tickets
      const walk = yield* ClockAdvance
      for (const { id } of shops)
        for (let n = 0; n < 143; n++) {
          if (n % 3 === 0) yield* walk.move({ advance_ms: 7 })
          const shop_id = id as ShopId
          yield* tickets.create({ shop_id, caller_id: id as KeyId, scopes: [], via: "app" }, input)
        }
    })
    await sandbox.runtime.runPromise(filling)
    await sandbox.clock({ advance_ms: SIXTY_DAYS })
    let closed = 0
    for (const shop of shops) {
      const events = await sandbox.events(shop)
      const instants = events
        .filter((event) => event.startsWith("ticket.abandoned"))
        .map((event) => event.split(" ")[1]!)
      const created = events.filter((event) => event.startsWith("ticket.created")).map((event) => event.split(" ")[1]!)
      expect(instants).toEqual(created.map((at) => new Date(Date.parse(at) + SIXTY_DAYS).toISOString()))
      closed += instants.length
    }
    expect(closed).toBe(143 * count)
  }, 60_000)

  it("all requests during the move succeed, and the time of each shop never goes back", async () => {
    const sandbox = await Sandbox.open()
    const shops = [await sandbox.shop(), await sandbox.shop()]
    for (const shop of shops) for (let n = 0; n < 20; n++) await sandbox.ticket(shop)
    const busy = shops.flatMap((shop) => [
      ...Array.from({ length: 6 }, () => sandbox.clock({ advance_ms: 30 * DAY })),
      ...Array.from({ length: 40 }, () =>
        sandbox.good("POST", `/sandbox/shops/${shop.id}/tickets`, { service: "Hem" })
      ),
      ...Array.from({ length: 10 }, () => sandbox.good("GET", "/v1/tickets", undefined, { bearer: shop.key }))
    ])
    await Promise.all(busy)
    expect(Date.parse(await sandbox.now())).toBeGreaterThanOrEqual(Date.parse(START) + 360 * DAY)
    for (const shop of shops) {
      const instants = (await sandbox.events(shop)).map((event) => event.split(" ")[1]!)
      expect(instants).toEqual([...instants].sort())
      const tickets = await sandbox.good("GET", "/v1/tickets", undefined, { bearer: shop.key, query: "limit=100" })
      for (const { state, created_at, abandoned_at } of tickets) {
        expect(state).toBe("abandoned")
        expect(Date.parse(abandoned_at)).toBe(Date.parse(created_at) + SIXTY_DAYS)
      }
    }
  })
})

describe("While the clock runs, tickets close without a call (Specification, Sandbox)", () => {
  it("while the clock runs, a due ticket closes within about a second", async () => {
    const sandbox = await Sandbox.open()
    const closing = sandbox.runtime.runFork(Effect.flatMap(Closer, ({ run }) => run))
    const shop = await sandbox.shop()
    const ticket = await sandbox.ticket(shop)
    await sandbox.clock({ advance_ms: SIXTY_DAYS - 500 })
    sandbox.real.pass(SECOND)
    await expect.poll(() => sandbox.events(shop), { interval: 5, timeout: 10_000 }).toHaveLength(2)
    const closed = await read(sandbox, shop, ticket)
    expect([closed.state, closed.abandoned_at]).toEqual(["abandoned", later(SIXTY_DAYS)])
    await Effect.runPromise(Fiber.interrupt(closing))
  })
})

describe("A long move ends even if it cannot reach its target (Specification, Sandbox)", () => {
  const walkOver = (work: { readonly next: () => number | null; readonly runOnce: Effect.Effect<number> }) => {
    const real = new HandClock(0)
    const source = Effect.succeed({ next: () => Effect.sync(work.next), runOnce: work.runOnce })
    const layer = ClockAdvance.layer([source]).pipe(
      Layer.provideMerge(SandboxClock.layer),
      Layer.provide(Layer.setClock(real))
    )
    return <A, E>(use: Effect.Effect<A, E, ClockAdvance | SandboxClock>) =>
      Effect.runPromise(Effect.provide(use, layer))
  }
  const move = (advance_ms: number) => Effect.flatMap(ClockAdvance, (walk) => walk.move({ advance_ms }))
  const state = Effect.flatMap(ClockAdvance, (walk) => walk.state)

  it("a move ends even if a run never completes the due work", async () => {
    const run = walkOver({ next: () => 10, runOnce: Effect.succeed(0) })
    await run(
      Effect.gen(function* () {
        expect((yield* Effect.exit(move(HOUR)))._tag).toBe("Failure")
        expect(yield* state).toMatchObject({ now: 10, frozen: false })
      })
    )
  })

  it("an interrupted move leaves the clock running, at the time that it had reached", async () => {
    const run = walkOver({ next: () => 10, runOnce: Effect.never })
    await run(
      Effect.gen(function* () {
        const walking = yield* Effect.fork(move(HOUR))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(walking)
        expect(yield* state).toMatchObject({ now: 10, frozen: false })
      })
    )
  })

  it("a move runs everything that is due at one instant before the next instant", async () => {
    const log: Array<string> = []
    const due = [5, 5, 3, 9, 20]
    const clock = { now: (): number => 0 }
    const run = walkOver({
      next: () => (due.length === 0 ? null : Math.min(...due) <= 15 ? Math.min(...due) : null),
      runOnce: Effect.sync(() => {
        const now = clock.now()
        const ripe = due.filter((at) => at <= now)
        for (const at of ripe) due.splice(due.indexOf(at), 1)
        log.push(`${now}: ${ripe.join(" ")}`)
        // The run at 3 adds work that is due at once, and work that is due at 4.
        if (log.length === 1) due.push(3, 4)
        return ripe.length
      })
    })
    await run(
      Effect.gen(function* () {
        const movable = yield* SandboxClock
        clock.now = () => movable.unsafeCurrentTimeMillis()
        expect(yield* move(15)).toMatchObject({ now: 15, frozen: false })
      })
    )
    expect(log).toEqual(["3: 3", "3: 3", "4: 4", "5: 5 5", "9: 9"])
    expect(due).toEqual([20])
  })
})
