import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { DAY_MS, HOUR_MS } from "../../src/domain/Instant.js"
import { Closer } from "../../src/services/background/Closer.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { putTickets, runCommand, ticketInput } from "../../src/testing/Fixtures.js"
import { inWorkshop, openShop, query, refusalOf, ticketId } from "./WorkshopFixture.js"

const abandoned = (types: ReadonlyArray<{ readonly type: string }>) =>
  types.filter(({ type }) => type === "ticket.abandoned").length

describe("Specification, States: automatic closure by the service", () => {
  it(
    "a ready ticket that nobody collects for 60 days is closed as uncollected, at that instant, with its event",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const closer = yield* Closer
        const { data } = yield* tickets.create(caller, ticketInput())
        clock.advance(5 * DAY_MS)
        const { ready_at } = (yield* tickets.changeStatus(caller, ticketId(data), "ready")).data
        clock.advance(60 * DAY_MS - 1)
        expect(yield* closer.runOnce).toBe(0)
        clock.advance(1 + HOUR_MS)
        expect(yield* closer.runOnce).toBe(1)
        const closed = yield* tickets.byId(caller, ticketId(data))
        const due = new Date(Date.parse(ready_at!) + 60 * DAY_MS).toISOString()
        expect(closed).toMatchObject({
          state: "abandoned",
          abandon_reason: "uncollected",
          abandoned_at: due,
          outcome: null
        })
        const event = JSON.parse((yield* (yield* Webhooks).events(caller.shop_id)).at(-1)!.body)
        expect(event).toMatchObject({ type: "ticket.abandoned", data: { ticket: closed, reason: "uncollected" } })
      })
    )
  )

  it(
    "a ticket in the workshop without a change from the shop for 60 days is closed as no_news, and any news postpones this",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const closer = yield* Closer
        const { data } = yield* tickets.create(caller, ticketInput())
        clock.advance(59 * DAY_MS)
        yield* tickets.recordNotified(caller, ticketId(data), "whatsapp")
        clock.advance(59 * DAY_MS)
        expect(yield* closer.runOnce).toBe(0)
        clock.advance(DAY_MS)
        expect(yield* closer.runOnce).toBe(1)
        expect(yield* tickets.byId(caller, ticketId(data))).toMatchObject({
          state: "abandoned",
          abandon_reason: "no_news"
        })
        expect(yield* refusalOf(tickets.changeStatus(caller, ticketId(data), "workshop"))).toBe("TicketAbandoned")
        expect(yield* refusalOf(tickets.recordNotified(caller, ticketId(data), "sms"))).toBe("TicketAbandoned")
      })
    )
  )

  it(
    "an impossible ticket is never closed automatically",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput())
        yield* tickets.changeStatus(caller, ticketId(data), "impossible")
        clock.advance(3650 * DAY_MS)
        expect(yield* (yield* Closer).runOnce).toBe(0)
      })
    )
  )
})

describe("runOnce closes everything that is due, exactly once", () => {
  const many = Effect.fnUntraced(function* () {
    const callers = yield* Effect.replicateEffect(openShop(), 3)
    for (const { shop_id } of callers)
      for (const n of [150, 150]) yield* runCommand(putTickets(shop_id, Array(n).fill({})))
    return callers
  })

  it(
    "runOnce closes 900 due tickets of three shops, which is more than one poll reads",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const callers = yield* many()
        clock.advance(60 * DAY_MS)
        expect(yield* (yield* Closer).runOnce).toBe(900)
        expect(yield* (yield* Closer).runOnce).toBe(0)
        for (const caller of callers) {
          expect(abandoned(yield* (yield* Webhooks).events(caller.shop_id))).toBe(300)
          expect((yield* (yield* Tickets).list(caller, query({ state: "workshop" }))).data).toEqual([])
        }
      })
    )
  )

  it(
    "three closers at the same time close each ticket once",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const callers = yield* many()
        clock.advance(60 * DAY_MS)
        const closed = yield* Effect.replicateEffect((yield* Closer).runOnce, 3, { concurrency: "unbounded" })
        expect(closed.reduce((a, b) => a + b)).toBe(900)
        for (const { shop_id } of callers) expect(abandoned(yield* (yield* Webhooks).events(shop_id))).toBe(300)
      })
    )
  )

  it(
    "run closes due tickets at once, and continues until it is interrupted",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput())
        clock.advance(60 * DAY_MS)
        const running = yield* Effect.fork((yield* Closer).run)
        const isClosed = Effect.map(tickets.byId(caller, ticketId(data)), ({ state }) => state === "abandoned")
        yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), isClosed), { until: (closed) => closed, times: 1000 })
        expect(yield* isClosed).toBe(true)
        yield* Fiber.interrupt(running)
      })
    )
  )
})
