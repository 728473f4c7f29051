import * as MemoryStore from "@workshop/store-memory"
import { Effect, Fiber, Layer, Logger, TestClock, TestContext } from "effect"
import { expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"
import { Directory } from "../../src/ports/StorePorts.js"
import { ClockComparison } from "../../src/services/clock/ClockRepair.js"
import { notReadyReason } from "../../src/services/observe/Readiness.js"

/** A directory whose reads neither end nor can be interrupted, like those of a server that is suspended. */
const silent = Effect.map(Directory, (directory) =>
  Directory.of({
    ...directory,
    keyByHash: () => Effect.uninterruptible(Effect.never),
    latest: Effect.uninterruptible(Effect.never)
  })
)

it("the process is not ready after two seconds without a response of the store, although the store is still reading", () =>
  Effect.gen(function* () {
    const reading = yield* Effect.fork(Effect.provideService(notReadyReason, Directory, yield* silent))
    yield* TestClock.adjust("1999 millis")
    expect(reading.unsafePoll()).toBe(null)
    yield* TestClock.adjust("1 millis")
    expect(yield* Fiber.join(reading)).toBe("The service cannot reach its store. Try again in a moment.")
  }).pipe(
    Effect.provide(Layer.provideMerge(MemoryStore.layer, Entropy.layer)),
    Effect.provide(Layer.merge(TestContext.TestContext, Logger.remove(Logger.defaultLogger))),
    Effect.scoped,
    Effect.runPromise
  ))

it("a process compares the data with the clock once a minute, however often its readiness is requested", () => {
  let looks = 0
  const counted = Layer.effect(
    Directory,
    Effect.map(Directory, (directory) => ({ ...directory, latest: Effect.tap(directory.latest, () => looks++) }))
  )
  return Effect.gen(function* () {
    for (let second = 0; second < 60; second++) {
      expect(yield* notReadyReason).toBe(null)
      yield* TestClock.adjust("1 seconds")
    }
    expect(looks).toBe(1)
    yield* notReadyReason
    expect(looks).toBe(2)
  }).pipe(
    Effect.provide(
      ClockComparison.layer.pipe(
        Layer.provideMerge(counted),
        Layer.provideMerge(MemoryStore.layer),
        Layer.provideMerge(Entropy.layer)
      )
    ),
    Effect.provide(TestContext.TestContext),
    Effect.scoped,
    Effect.runPromise
  )
})
