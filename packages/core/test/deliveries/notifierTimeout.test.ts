import { layer as memoryStore } from "@workshop/store-memory"
import { Duration, Effect, Fiber, Layer, Logger, LogLevel } from "effect"
import { expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"
import { ClientNotifier, OwnerNotifier } from "../../src/ports/Notifiers.js"
import { NotificationSender } from "../../src/services/background/NotificationSender.js"
import { record, statusResult, TestDispatcher } from "../../src/testing/TestDispatcher.js"
import { HastyClock, until } from "./DispatcherFixture.js"

it("a notifier has ten seconds for a notification, as long as a receiver has (Specification, Webhooks)", async () => {
  const clock = new HastyClock()
  const hasty = clock.sleep
  const slept_ms: Array<number> = []
  const sleep: typeof hasty = (duration) => {
    slept_ms.push(Duration.toMillis(duration))
    return hasty(duration)
  }
  Object.assign(clock, { sleep })
  let isAsked = false
  const silent = () =>
    Effect.suspend(() => {
      isAsked = true
      return Effect.never
    })
  const notifiers = Layer.merge(
    Layer.succeed(OwnerNotifier, { notify: silent }),
    Layer.succeed(ClientNotifier, { notify: silent })
  )
  const layers = NotificationSender.Default.pipe(
    Layer.provideMerge(notifiers),
    Layer.provideMerge(memoryStore),
    Layer.provideMerge(Entropy.layerSeeded(1)),
    Layer.provideMerge(Layer.merge(clock.layer, Logger.minimumLogLevel(LogLevel.None)))
  )
  const body = Effect.gen(function* () {
    const dispatcher = new TestDispatcher()
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    yield* record((yield* dispatcher.claim())[0]!, statusResult(410))
    const sending = yield* Effect.fork((yield* NotificationSender).runOnce)
    yield* until("it is asked", () => isAsked)
    expect(slept_ms).toContain(10_000)
    clock.endGrace()
    expect(yield* Fiber.join(sending)).toBe(1)
  })
  await Effect.runPromise(body.pipe(Effect.provide(layers), Effect.withClock(clock)))
})
