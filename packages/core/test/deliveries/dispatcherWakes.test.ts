import { Duration, Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { Deliveries } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import {
  type Around,
  type HastyClock,
  openShopWithWebhook,
  raise,
  turnOfLoop,
  until,
  withDispatcher
} from "./DispatcherFixture.js"

/** Makes the dispatcher's wait between two polls never end on this clock. */
const withoutEnd = (clock: HastyClock) => {
  const hasty = clock.sleep
  const sleep: typeof hasty = (duration) => (Duration.toMillis(duration) === 250 ? Effect.never : hasty(duration))
  Object.assign(clock, { sleep })
}

/** A store that never notifies the dispatcher of due deliveries. */
const silent = Layer.effect(
  Deliveries,
  Effect.map(Deliveries, (deliveries) => ({ ...deliveries, changed: Effect.never }))
) as unknown as Around

/** Raises an event while the dispatcher waits, and returns once the event has arrived. */
const arrives = (arrived: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const shop = yield* openShopWithWebhook
    const running = yield* Effect.fork((yield* Dispatcher).run)
    for (let i = 0; i < 100; i++) yield* turnOfLoop
    yield* raise(shop, null)
    yield* until("it arrives", () => arrived.length === 1)
    yield* Fiber.interrupt(running)
  })

describe("docs/how-it-is-built.md: a dispatcher without work", () => {
  it(
    "the store wakes the dispatcher before its next poll",
    withDispatcher(({ clock, sender }) => {
      withoutEnd(clock)
      return arrives(sender.arrived)
    })
  )

  it(
    "without a notification by the store the dispatcher claims deliveries at its next poll, within 250 ms",
    withDispatcher(
      ({ sender, clock }) => {
        const slept_ms: Array<number> = []
        const hasty = clock.sleep
        const sleep: typeof hasty = (duration) => {
          slept_ms.push(Duration.toMillis(duration))
          return hasty(duration)
        }
        Object.assign(clock, { sleep })
        return Effect.map(arrives(sender.arrived), () => expect(slept_ms).toContain(250))
      },
      {},
      silent
    )
  )
})
