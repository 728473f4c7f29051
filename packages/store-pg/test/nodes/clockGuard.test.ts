import { Closer } from "@workshop/core"
import { DAY_MS, Deliveries } from "@workshop/core/store"
import { Context, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand } from "../../../core/src/testing/Fixtures.js"
import { raisePings } from "../../../core/src/testing/TestDispatcher.js"
import { MachineClock } from "../../src/observe/ClockGuard.js"
import { retention } from "../../src/retention/Retention.js"
import { create, database, node, RealClock, runTest } from "./Node.js"

/** A machine's clock that differs from real time by `off_ms`. */
class OffClock extends RealClock {
  off_ms = 0
  override readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  override unsafeCurrentTimeMillis(): number {
    return Date.now() + this.off_ms
  }
}

/** A shop with a ticket and a due delivery, a node with the right time, and a node whose clock the test sets. */
const setting = Effect.gen(function* () {
  const { url, session } = yield* database
  const right = yield* node({ url })
  const clock = new OffClock()
  const fastNode = yield* Effect.provide(node({ url }), Context.make(MachineClock, clock))
  const { id } = yield* Effect.provide(openShop(), right)
  yield* Effect.provide(create(id), right)
  yield* Effect.provide(runCommand(setWebhook(id, { url: "https://shop.example/", secret: "whsec_1" })), right)
  yield* Effect.provide(runCommand(raisePings(id, [null])), right)
  const rows =
    session.run(`select (select json_agg(h) from shop_head h) as heads, (select json_agg(t) from ticket t) as tickets,
    (select json_agg(d) from delivery d) as deliveries, (select json_agg(t) from delivery_queue t) as turns`)
  const on = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.withClock(Effect.provide(effect as Effect.Effect<A, E, never>, fastNode), clock)
  return { url, id, clock, rows, on, right }
})

const claim = Effect.flatMap(Deliveries, ({ claim }) =>
  Effect.flatMap(
    Effect.clockWith((clock) => clock.currentTimeMillis),
    (now) => claim(now, 9)
  )
)

const OFF =
  /^The clock of this machine is [\d.]+ seconds (ahead of|behind) the database's clock, so this process runs no commands and sends no deliveries. Set both clocks by the same time server\.$/

describe("a node whose clock differs from its database's (Specification, Commands)", { timeout: 60_000 }, () => {
  for (const off_ms of [61 * DAY_MS, 6_000, -6_000]) {
    it(`a node whose clock is ${off_ms} ms off refuses commands, claims and closures with the reason, and writes nothing`, () =>
      runTest(
        Effect.gen(function* () {
          const { id, clock, rows, on } = yield* setting
          clock.off_ms = off_ms
          const before = yield* rows
          const refusals = [
            yield* on(Effect.flip(create(id))),
            yield* on(Effect.flip(claim)),
            // Only by a clock that is 61 days ahead is the ticket due to close.
            ...(off_ms > DAY_MS ? [yield* on(Effect.flip(Effect.provide(Closer.runOnce, Closer.Default)))] : [])
          ]
          for (const refusal of refusals) {
            expect(refusal).toMatchObject({ _tag: "StoreUnavailable", message: expect.stringMatching(OFF) })
          }
          expect(yield* rows).toEqual(before)
          clock.off_ms = 0
          expect(yield* on(create(id))).toBe(2)
          expect(yield* on(claim)).toHaveLength(2)
        })
      ))
  }

  it("a node whose clock is four seconds behind accepts commands", () =>
    runTest(
      Effect.gen(function* () {
        const { id, clock, on } = yield* setting
        clock.off_ms = -4_000
        expect(yield* on(create(id))).toBe(2)
      })
    ))

  it("a node refuses the first batch after a step of its clock", () =>
    runTest(
      Effect.gen(function* () {
        const { id, clock, on } = yield* setting
        expect(yield* on(create(id))).toBe(2)
        clock.off_ms = DAY_MS
        expect(yield* on(Effect.flip(create(id)))).toMatchObject({ _tag: "StoreUnavailable" })
      })
    ))

  it("retention removes no row that is old only by the node's wrong clock", () =>
    runTest(
      Effect.gen(function* () {
        const { url, clock, rows } = yield* setting
        clock.off_ms = 61 * DAY_MS
        const { runOnce } = yield* Effect.provide(
          retention({ url, keepEventsMs: 7 * DAY_MS }),
          Context.make(MachineClock, clock)
        )
        const before = yield* rows
        expect(yield* Effect.withClock(Effect.flip(runOnce), clock)).toMatchObject({ kind: "wrongClock" })
        expect(yield* rows).toEqual(before)
      })
    ))
})
