import { inspect } from "node:util"
import { Effect } from "effect"

/** The longest time that tests wait for a condition. It is shorter than their timeout, so that a failure says which condition did not hold. */
const TIMEOUT_MS = 25_000

/** Long enough that polling costs little, and short in comparison with the time that a process or a database takes. */
const PAUSE_MS = 5

/** Repeats an effect until its result meets a condition. Dies with the condition's name if it does not hold in time. */
export const until = <A, E, R>(
  what: string,
  look: Effect.Effect<A, E, R>,
  isThere: (seen: A) => boolean
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const end = performance.now() + TIMEOUT_MS
    while (true) {
      const seen = yield* look
      if (isThere(seen)) return seen
      if (performance.now() > end)
        return yield* Effect.dieMessage(`Waited ${TIMEOUT_MS / 1000} s for ${what}; last seen: ${inspect(seen)}`)
      // The pause is in real time, even if the test has a virtual clock.
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)))
    }
  })

/** The same for a condition that a function checks in place of an effect. */
export const untilAsync = <A>(what: string, look: () => A | Promise<A>, isThere: (seen: A) => boolean): Promise<A> =>
  Effect.runPromise(
    until(
      what,
      Effect.promise(async () => look()),
      isThere
    )
  )
