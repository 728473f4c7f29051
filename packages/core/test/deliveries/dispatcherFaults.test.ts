import { Context, Effect, Fiber, Layer } from "effect"
import { PCGRandom } from "effect/Utils"
import { describe, expect, it } from "vitest"
import { startReplay } from "../../src/decisions/replayDeliveries.js"
import { LAST_INSTANT, MINUTE_MS } from "../../src/domain/Instant.js"
import { ServiceLimits } from "../../src/domain/Limits.js"
import { Deliveries, Store, StoreUnavailable } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { runCommand } from "../../src/testing/Fixtures.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import {
  type Around,
  eventIds,
  logOf,
  openShopWithWebhook,
  raise,
  SEED,
  turnOfLoop,
  withDispatcher
} from "./DispatcherFixture.js"

/**
 * The faults that can occur in a call. With "lost result" the call does its work, and only its
 * result is lost.
 */
const faults = ["none", "none", "none", "slow", "unavailable", "lost result", "dies"] as const

class Trouble {
  isOn = false
  readonly seen = new Set<string>()
  readonly #random: PCGRandom

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  integer(max: number): number {
    return this.#random.integer(max)
  }

  around<A, E>(where: string, work: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> {
    return Effect.suspend(() => {
      if (!this.isOn) return work
      const fault = faults[this.integer(faults.length)]!
      this.seen.add(`${where}: ${fault}`)
      if (fault === "unavailable") return Effect.fail(new StoreUnavailable({}))
      if (fault === "dies") return Effect.zipRight(turnOfLoop, Effect.die(new Error("a bug")))
      if (fault === "lost result") return Effect.zipRight(work, Effect.fail(new StoreUnavailable({})))
      return fault === "slow" ? Effect.zipLeft(Effect.zipRight(turnOfLoop, work), turnOfLoop) : work
    })
  }

  get layer(): Around {
    return Layer.effectContext(
      Effect.map(Effect.context<Store | Deliveries>(), (context) => {
        const [store, deliveries] = [Context.get(context, Store), Context.get(context, Deliveries)]
        return Context.make(Store, {
          transact: (command) => this.around("transact", store.transact(command))
        }).pipe(
          Context.add(Deliveries, {
            ...deliveries,
            claim: (now, max) => this.around("claim", deliveries.claim(now, max)),
            reclaim: this.around("reclaim", deliveries.reclaim),
            replays: this.around("replays", deliveries.replays)
          })
        )
      })
    ) as unknown as Around
  }
}

const trouble = (seed: number) => {
  const troubled = new Trouble(seed)
  const acknowledged = new Set<string>()
  return withDispatcher(
    ({ sender, clock }) =>
      Effect.gen(function* () {
        clock.endGrace()
        const { run: delivering, runOnce, next } = yield* Dispatcher
        const shops = yield* Effect.replicateEffect(openShopWithWebhook, 3)
        sender.script = ({ id }) => {
          const chance = troubled.isOn ? troubled.integer(10) : 9
          if (chance === 0) return Effect.die(new Error("a bug in the sender"))
          if (chance === 1) return Effect.never
          if (chance === 2) return Effect.succeed(statusResult(500))
          return Effect.zipRight(
            chance < 5 ? turnOfLoop : Effect.void,
            Effect.sync(() => {
              acknowledged.add(id)
              return statusResult(200)
            })
          )
        }
        for (let round = 0; round < 25; round++) {
          for (const shop of shops) yield* raise(shop, ...Array.from({ length: 4 }, () => troubled.integer(4)))
          if (round === 12) yield* runCommand(startReplay(shops[0]!, { state: "delivered" }))
          troubled.isOn = true
          const running = yield* Effect.fork(delivering)
          for (let turns = troubled.integer(25); turns > 0; turns--) yield* turnOfLoop
          yield* Fiber.interrupt(running)
          expect(sender.flying).toBe(0)
          troubled.isOn = false
          clock.advance(troubled.integer(2) === 0 ? ServiceLimits.delivery_lease_ms : troubled.integer(MINUTE_MS))
        }
        clock.advance(ServiceLimits.delivery_lease_ms)
        for (let due: number | null = 0; due !== null; due = yield* next(LAST_INSTANT)) {
          clock.set(Math.max(due, clock.unsafeCurrentTimeMillis()))
          yield* runOnce
        }
        const raised = (yield* Effect.forEach(shops, eventIds)).flat()
        expect(raised).toHaveLength(300)
        expect(new Set(sender.arrived.map(({ id }) => id))).toEqual(new Set(raised))
        for (const shop of shops)
          for (const { event_id, state, attempts } of yield* logOf(shop)) {
            expect(state).toBe("delivered")
            expect(acknowledged.has(event_id)).toBe(true)
            expect(attempts.map(({ n }) => n)).toEqual(attempts.map((_, i) => i + 1))
            const bodies = new Set(sender.arrived.filter(({ id }) => id === event_id).map(({ body }) => body))
            expect(bodies.size).toBe(1)
            expect(attempts.length).toBeLessThanOrEqual(sender.arrived.filter(({ id }) => id === event_id).length)
          }
        const met = ["slow", "unavailable", "lost result", "dies"]
        for (const where of ["transact", "claim", "replays"])
          for (const fault of met) expect(troubled.seen).toContain(`${where}: ${fault}`)
      }),
    {},
    troubled.layer,
    seed
  )
}

describe("docs/how-it-is-built.md: no fault loses an event, and an event that is sent twice has the same id", () => {
  for (let i = 0; i < 8; i++)
    it(
      `no event is lost if the store is unavailable or crashes, the sender crashes or hangs, and fibers are interrupted (seed ${SEED + i})`,
      trouble(SEED + i)
    )
})
