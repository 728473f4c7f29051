import { Cause, Effect, Layer, Logger, TestClock, TestContext } from "effect"
import { expect, it } from "vitest"
import { StoreUnavailable } from "../../src/ports/StorePorts.js"
import {
  backgroundSucceeded,
  logBackgroundFailure,
  ownFailureLog
} from "../../src/services/background/BackgroundFailure.js"

const refused = new AggregateError([new Error("connect ECONNREFUSED 127.0.0.1:5432")])
const failure = new StoreUnavailable({ cause: new Error("", { cause: refused }) })
const fails = logBackgroundFailure("Deliveries could not be claimed. The service tries again", Cause.fail(failure))

it("an unavailable store is logged in one line without a stack, once a minute for all background work, and once when it is available again", () => {
  const lines: Array<string> = []
  const log = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message, cause }) => void lines.push(`${message}${Cause.isEmpty(cause) ? "" : " and a stack"}`))
  )
  return Effect.gen(function* () {
    const why = "The store cannot be reached. Try again in a moment (connect ECONNREFUSED 127.0.0.1:5432)"
    yield* Effect.replicateEffect(fails, 5)
    expect(lines.splice(0)).toEqual([`The background work waits for the store. ${why}`])
    yield* TestClock.adjust("1 minute")
    yield* Effect.replicateEffect(fails, 5)
    expect(lines.splice(0)).toEqual([`The background work still waits for the store. ${why}`])
    yield* Effect.replicateEffect(backgroundSucceeded, 2)
    expect(lines.splice(0)).toEqual(["The store can be reached again, so the background work continues"])
    yield* fails
    expect(lines.splice(0)).toEqual([`The background work waits for the store. ${why}`])
    yield* logBackgroundFailure("Tickets could not be closed. The service tries again", Cause.die(new Error("a bug")))
    expect(lines).toEqual(["Tickets could not be closed. The service tries again and a stack"])
  }).pipe(Effect.provide(log), Effect.provide(TestContext.TestContext), Effect.runPromise)
})

it("a workshop does not report that the store of another workshop of its process can be reached again", () => {
  const lines: Array<string> = []
  const log = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => void lines.push(String(message)))
  )
  return Effect.gen(function* () {
    const [one, other] = [yield* Layer.build(ownFailureLog), yield* Layer.build(ownFailureLog)]
    yield* Effect.provide(fails, one)
    expect(lines.splice(0)).toEqual([expect.stringMatching(/^The background work waits/)])
    yield* Effect.provide(backgroundSucceeded, other)
    expect(lines).toEqual([])
    yield* Effect.provide(backgroundSucceeded, one)
    expect(lines).toEqual(["The store can be reached again, so the background work continues"])
  }).pipe(Effect.provide(log), Effect.provide(TestContext.TestContext), Effect.scoped, Effect.runPromise)
})
