import { Context, Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { ServiceLimits } from "../../src/domain/Limits.js"
import { Deliveries, Reads } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import {
  type Around,
  logOf,
  openShopWithWebhook,
  raise,
  turnOfLoop,
  until,
  withDispatcher
} from "./DispatcherFixture.js"

const claiming = { isGoing: false, isOpen: false }
/** A store whose claims return once the test sets `isOpen`. */
const gated = Layer.effectContext(
  Effect.map(Effect.context<Deliveries>(), (context) => {
    const deliveries = Context.get(context, Deliveries)
    const gate = Effect.zipRight(
      Effect.sync(() => {
        claiming.isGoing = true
      }),
      until("the store answers", () => claiming.isOpen)
    )
    return Context.make(Deliveries, {
      ...deliveries,
      claim: (now, max) => Effect.zipLeft(deliveries.claim(now, max), gate)
    })
  })
) as unknown as Around

describe("a dispatcher that is interrupted", () => {
  it(
    "an interrupted dispatcher sends the deliveries that were being claimed, because they would otherwise wait for the end of their lease",
    withDispatcher(
      ({ sender }) =>
        Effect.gen(function* () {
          const shop = yield* openShopWithWebhook
          yield* raise(shop, null, null)
          const running = yield* Effect.fork((yield* Dispatcher).run)
          yield* until("a claim is under way", () => claiming.isGoing)
          const ending = yield* Effect.fork(Fiber.interrupt(running))
          for (let i = 0; i < 20; i++) yield* turnOfLoop
          claiming.isOpen = true
          yield* Fiber.join(ending)
          expect(sender.arrived).toHaveLength(2)
          expect((yield* logOf(shop)).map(({ state }) => state)).toEqual(["delivered", "delivered"])
        }),
      {},
      gated
    )
  )

  it(
    "an interrupted dispatcher claims nothing more, waits for the requests in flight, and records their results",
    withDispatcher(({ sender }) =>
      Effect.gen(function* () {
        const shop = yield* openShopWithWebhook
        yield* raise(shop, ...Array(9).fill(null))
        let isOpen = false
        sender.script = () =>
          Effect.as(
            until("let go", () => isOpen),
            statusResult(200)
          )
        const running = yield* Effect.fork((yield* Dispatcher).run)
        yield* until("four are on their way", () => sender.flying === 4)
        const ending = yield* Effect.fork(Fiber.interrupt(running))
        for (let i = 0; i < 20; i++) yield* turnOfLoop
        expect(ending.unsafePoll()).toBeNull()
        isOpen = true
        yield* Fiber.join(ending)
        const states = (yield* logOf(shop)).map(({ state, attempts }) => `${state} ${attempts.length}`)
        expect(states.sort()).toEqual([...Array(4).fill("delivered 1"), ...Array(5).fill("pending 0")])
      })
    )
  )

  it(
    "an interrupted dispatcher leaves requests to their leases after five seconds, without using up an attempt",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        const shop = yield* openShopWithWebhook
        yield* raise(shop, null)
        sender.script = () => Effect.never
        const running = yield* Effect.fork((yield* Dispatcher).run)
        yield* until("it hangs", () => sender.flying === 1)
        const ending = yield* Effect.fork(Fiber.interrupt(running))
        for (let i = 0; i < 20; i++) yield* turnOfLoop
        expect(ending.unsafePoll()).toBeNull()
        clock.endGrace()
        yield* Fiber.join(ending)
        expect(sender.flying).toBe(0)
        expect((yield* logOf(shop))[0]).toMatchObject({ state: "pending", attempts: [] })
        clock.advance(15_000)
        sender.script = () => Effect.succeed(statusResult(200))
        yield* (yield* Dispatcher).runOnce
        expect((yield* logOf(shop))[0]).toMatchObject({ state: "delivered", attempts: [{ n: 1 }] })
      })
    )
  )
})

describe("an attempt whose lease is taken over while its receiver waits", () => {
  it(
    "an attempt whose lease was taken over is logged, and its 410 turns the webhook off",
    withDispatcher(({ sender, clock, logs }) =>
      Effect.gen(function* () {
        const shop = yield* openShopWithWebhook
        yield* raise(shop, null)
        const deliveries = yield* Deliveries
        const takeOver = Effect.gen(function* () {
          clock.advance(ServiceLimits.delivery_lease_ms)
          yield* deliveries.reclaim
          expect(yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), 1)).toHaveLength(1)
        })
        sender.script = () => Effect.as(Effect.orDie(takeOver), statusResult(410))
        yield* (yield* Dispatcher).runOnce
        expect((yield* (yield* Reads).shop(shop))?.webhook).toMatchObject({ off_reason: "gone", failures_in_row: 1 })
        expect(yield* logOf(shop)).toMatchObject([{ state: "parked", attempts: [{ n: 1, status: 410 }] }])
        expect(sender.arrived).toHaveLength(1)
        expect(logs).toEqual([
          `Deliveries to shop.example began to fail: the receiver responded 410, which turns the webhook off. To see the attempts, call deliveries.list, or run workshop webhook deliveries ${shop}`
        ])
      })
    )
  )
})
