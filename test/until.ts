import { inspect } from "node:util"
import { Effect } from "effect"

/** The longest wait for a condition. Shorter than a test's timeout, so that the failure names the condition. */
const TIMEOUT_MS = 25_000

/**
 * The pause between two checks: long enough to cost little, and short in comparison with the work of a process or a
 * database.
 */
const PAUSE_MS = 5

/** Repeats an effect until its result meets a condition. Dies with the condition's name if it does not hold in time. */
export const until = <A, E, R>(
  condition: string,
  read: Effect.Effect<A, E, R>,
  holds: (result: A) => boolean
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const end = performance.now() + TIMEOUT_MS
    while (true) {
      const result = yield* read
      if (holds(result)) return result
      if (performance.now() > end)
        return yield* Effect.dieMessage(`Waited ${TIMEOUT_MS / 1000} s for ${condition}; last seen: ${inspect(result)}`)
      // The pause is in real time, even if the test has a virtual clock.
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)))
    }
  })

/** Like {@link until}, for a function that returns a value or a promise. */
export const untilAsync = <A>(
  condition: string,
  read: () => A | Promise<A>,
  holds: (result: A) => boolean
): Promise<A> =>
  Effect.runPromise(
    until(
      condition,
      Effect.promise(async () => read()),
      holds
    )
  )
