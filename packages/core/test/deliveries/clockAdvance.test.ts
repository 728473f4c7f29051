import { layer as memoryStore } from "@workshop/store-memory"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { PCGRandom } from "effect/Utils"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../src/decisions/webhookSettings.js"
import type { ShopId } from "../../src/domain/Identifier.js"
import { HOUR_MS, MINUTE_MS } from "../../src/domain/Instant.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { Directory } from "../../src/ports/StorePorts.js"
import { Closer } from "../../src/services/background/Closer.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { ClockAdvance, type DueWork, SandboxClock } from "../../src/services/clock/ClockAdvance.js"
import { runCommand } from "../../src/testing/Fixtures.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { eventIds, logOf, raise, SEED, turnOfLoop, until } from "./DispatcherFixture.js"
import { ScriptedSender } from "./ScriptedSender.js"

const open = (n: number) =>
  Effect.gen(function* () {
    const id = `00000000-0000-7000-9000-${String(n).padStart(12, "0")}` as ShopId
    const program = { active: false, name: "", stamps_required: 1, stamps_per_ticket: 1, reward_label: "" }
    const flags = { approved: true, active: true, api_enabled: true }
    const money = { currency: "TND", decimals: 3, time_zone: "Africa/Tunis" as never, tracking_base_url: null }
    const shop = {
      id,
      name: "Atelier",
      ...money,
      ...flags,
      program,
      forbidden_words: [],
      allowed_words: [],
      languages: [],
      created_at: 0
    }
    yield* (yield* Directory).createShop(shop as never)
    yield* runCommand(setWebhook(id, { url: "https://shop.example/", secret: "whsec_1" }))
    return id
  })

const DELAYS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS]

const interleaved = (seed: number) => async () => {
  const sender = new ScriptedSender()
  const random = new PCGRandom(seed)
  const turns = Effect.suspend(() => Effect.repeatN(turnOfLoop, random.integer(6)))
  const yields = Effect.suspend(() => Effect.repeatN(Effect.yieldNow(), random.integer(9)))
  // Returns the number of failed attempts of an event before it arrives.
  const failures = (id: string) => id.charCodeAt(35) % 5
  sender.script = ({ id, nth }) =>
    Effect.as(Effect.zipRight(turns, yields), statusResult(nth <= failures(id) ? 500 : 200))

  const layers = ClockAdvance.layer([Closer, Dispatcher]).pipe(
    Layer.provideMerge(Dispatcher.layer({ isJittered: false })),
    Layer.provide(sender.layer),
    Layer.provideMerge(Closer.Default),
    Layer.provideMerge(memoryStore),
    Layer.provideMerge(Entropy.layerSeeded(seed)),
    Layer.provideMerge(SandboxClock.layer)
  )
  const body = Effect.gen(function* () {
    const { move } = yield* ClockAdvance
    yield* move({ freeze: true })
    const shops = yield* Effect.forEach([1, 2, 3], open)
    const background = yield* Effect.fork((yield* Dispatcher).run)
    const raising = Effect.gen(function* () {
      for (let i = 0; i < 12; i++) {
        for (const shop of shops) yield* raise(shop, random.integer(3), null)
        yield* Effect.zipRight(turns, yields)
      }
    })
    const moving = Effect.gen(function* () {
      for (let i = 0; i < 8; i++) {
        yield* move({ advance_ms: random.integer(3) * random.integer(10 * MINUTE_MS) })
        yield* Effect.zipRight(turns, yields)
      }
    })
    yield* Effect.all([raising, moving, moving], { concurrency: "unbounded" })
    yield* move({ advance_ms: 10 * HOUR_MS })
    for (const shop of shops) {
      const log = yield* logOf(shop)
      expect(log).toHaveLength(24)
      for (const { event_id, state, attempts } of log) {
        expect([state, attempts.length]).toEqual(["delivered", failures(event_id) + 1])
        const waits = attempts.slice(1).map(({ started_at }, i) => started_at - attempts[i]!.started_at)
        expect(waits).toEqual(DELAYS.slice(0, waits.length))
      }
    }
    // Due work still runs while the clock is frozen.
    yield* raise(shops[0]!, null)
    const last = (yield* eventIds(shops[0]!)).at(-1)
    yield* until("the last one arrives by itself", () => sender.arrived.some(({ id }) => id === last))
    yield* Fiber.interrupt(background)
  })
  const exit = await Effect.runPromiseExit(Effect.provide(body, layers))
  if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
}

describe("Specification, Sandbox: a move of the clock returns after everything due by then has run, each at its own instant", () => {
  for (let i = 0; i < 30; i++)
    it(
      `a move of the clock runs all due work at its own instants while a dispatcher runs and events are raised (seed ${SEED + i})`,
      interleaved(SEED + i)
    )
})

/** Due work with one task for each instant. `runOnce` removes a task and returns `done`. */
const workAt = (instants: ReadonlyArray<number>, done: 0 | 1): Effect.Effect<DueWork> => {
  const waiting = [...instants]
  return Effect.succeed({
    next: (until: number) => Effect.sync(() => waiting.find((at) => at <= until) ?? null),
    runOnce: Effect.sync(() => (waiting.shift() === undefined ? 0 : done))
  })
}

describe("Specification, Sandbox: a move of the clock ends at its target however much is due on the way", () => {
  const START = Date.UTC(2026, 10, 20)
  const TARGET = 10 * HOUR_MS
  const walked = (work: Effect.Effect<DueWork>) =>
    Effect.flatMap(ClockAdvance, ({ move }) => move({ set: START + TARGET, freeze: true })).pipe(
      Effect.provide(Layer.provideMerge(ClockAdvance.layer([work]), SandboxClock.layer)),
      Effect.withClock(new SettableClock(START)),
      Effect.exit,
      Effect.runPromise
    )
  const times = (n: number, at: (i: number) => number) => Array.from({ length: n }, (_, i) => START + at(i))

  it.each([
    ["five hundred instants without work to do", 500, (i: number) => i, 0],
    ["five hundred tasks at one instant", 500, () => 7, 1]
  ] as const)("the clock reaches its target after %s", async (_, n, at, done) => {
    const exit = await walked(workAt(times(n, at), done))
    expect(exit).toMatchObject({ value: { now: START + TARGET, frozen: true } })
  })

  it("work that stays due forever fails the move with a defect, so that the process does not hang", async () => {
    const stuck = Effect.succeed({ next: () => Effect.succeed(START), runOnce: Effect.succeed(0) })
    const exit = await walked(stuck)
    expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("never does it")
  })
})
