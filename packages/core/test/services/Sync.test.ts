import { Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RUNS_ALL } from "../../../../test/runsAll.js"
import type { TicketId } from "../../src/domain/Identifier.js"
import { toIso } from "../../src/domain/Instant.js"
import type { Ticket } from "../../src/domain/Ticket.js"
import { Store } from "../../src/ports/StorePorts.js"
import type { Caller } from "../../src/services/Caller.js"
import type { PageMeta } from "../../src/services/TicketQuery.js"
import { Tickets } from "../../src/services/Tickets.js"
import { putTickets, ticketInput } from "../../src/testing/Fixtures.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { inWorkshop, openShop, query, SEED, workshopLayer } from "./WorkshopFixture.js"

interface Page {
  readonly data: ReadonlyArray<Ticket>
  readonly meta: PageMeta
}

/** A write, which creates a ticket or changes an older one, and the move of the clock before the write. */
interface Write {
  readonly ticket: number | null
  readonly ms: number
}

const write = fc.record<Write>({
  ticket: fc.option(fc.nat({ max: 20 }), { freq: 4 }),
  ms: fc.constantFrom(0, 0, 0, 0, 1, 7, -1, -5000, 3000)
})

const writing = Effect.fnUntraced(function* (caller: Caller, clock: SettableClock, writes: ReadonlyArray<Write>) {
  const tickets = yield* Tickets
  const ids: Array<TicketId> = []
  for (const { ticket, ms } of writes) {
    clock.advance(ms)
    const id = ticket === null || ids.length === 0 ? undefined : ids[ticket % ids.length]
    if (id === undefined) {
      const { data } = yield* tickets.create(caller, ticketInput())
      ids.push(data.id as TicketId)
    } else yield* tickets.recordNotified(caller, id, "call")
  }
})

/** Follows the shop as a till would: pages to the end, then again from `synced_until`. */
const following = Effect.fnUntraced(function* (
  caller: Caller,
  sizes: ReadonlyArray<number>,
  known: Map<string, Ticket>,
  isOver: () => boolean
) {
  const tickets = yield* Tickets
  let since = "1970-01-01"
  let pages = 0
  for (let last = false; !last; ) {
    last = isOver()
    let cursor: string | null = null
    do {
      const limit = String(sizes[pages++ % sizes.length])
      const page: Page = yield* tickets.list(
        caller,
        query({ updated_since: since, limit, ...(cursor === null ? {} : { cursor }) })
      )
      for (const ticket of page.data) known.set(ticket.id, ticket)
      cursor = page.meta.next_cursor
      expect(page.meta.has_more).toBe(cursor !== null)
      if (cursor === null) since = page.meta.synced_until!
      // Other fibers may run between two pages.
      yield* Effect.repeatN(Effect.yieldNow(), pages % 4)
    } while (cursor !== null)
  }
})

const whole = Effect.fnUntraced(function* (caller: Caller) {
  const { data } = yield* (yield* Tickets).list(caller, query({ limit: "100" }))
  return new Map(data.map((ticket) => [ticket.id, ticket]))
})

const synced = (writers: ReadonlyArray<ReadonlyArray<Write>>, sizes: ReadonlyArray<number>) => {
  const clock = new SettableClock()
  return Effect.gen(function* () {
    const caller = yield* openShop()
    const known = new Map<string, Ticket>()
    let over = false
    const till = yield* Effect.fork(following(caller, sizes, known, () => over))
    yield* Effect.forEach(writers, (writes) => writing(caller, clock, writes), { concurrency: "unbounded" })
    over = true
    yield* Fiber.join(till)
    expect(Object.fromEntries(known)).toEqual(Object.fromEntries(yield* whole(caller)))
  }).pipe(Effect.provide(workshopLayer(clock)), Effect.withClock(clock), Effect.runPromise)
}

describe("A client that follows updated_since and cursor misses no change (Specification, Lists and sync)", () => {
  it(`the client misses no change at any page size, with a clock that stops or steps back (seed ${SEED})`, async () => {
    const writers = fc.array(fc.array(write, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 3 })
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 100 })), {
      minLength: 1,
      maxLength: 5
    })
    await fc.assert(fc.asyncProperty(writers, sizes, synced), { seed: SEED, numRuns: RUNS_ALL ? 120 : 60 })
  }, 300_000)

  it(
    "the client misses no change with a filter, even over pages without tickets",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const [caller, tickets, store] = [yield* openShop(), yield* Tickets, yield* Store]
        const place = () => store.transact(putTickets(caller.shop_id, Array(210).fill({})))
        const early = toIso(clock.unsafeCurrentTimeMillis())
        for (let i = 0; i < 5; i++) yield* place()
        clock.advance(1)
        const late = toIso(clock.unsafeCurrentTimeMillis())
        for (let i = 0; i < 5; i++) yield* place()
        const asked = { created_after: late, updated_since: "1970-01-01", limit: "100" }
        const first: Page = yield* tickets.list(caller, query(asked))
        expect(first).toEqual({
          data: [],
          meta: { has_more: true, next_cursor: expect.any(String), synced_until: early }
        })
        const ids = new Set<string>()
        let [cursor, pages] = [first.meta.next_cursor, 1]
        for (; cursor !== null; pages++) {
          const page: Page = yield* tickets.list(caller, query({ ...asked, cursor }))
          for (const { id } of page.data) ids.add(id)
          cursor = page.meta.next_cursor
        }
        expect([ids.size, pages]).toEqual([1050, 12])
      })
    )
  )

  it("the client reads pages of one ticket if every change has the same millisecond", () =>
    synced(
      [0, 1, 2].map(() => Array.from({ length: 30 }, (_, i) => ({ ticket: i % 3 === 0 ? null : i, ms: 0 }))),
      [1]
    ))
})
