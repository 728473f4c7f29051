import { inspect } from "node:util"
import { Effect } from "effect"

/** How long tests wait for what comes by itself: less than they may take, so that a failure says what did not come. */
const TIMEOUT_MS = 25_000

/** Long enough that looking again costs little, and short beside what a process or a database takes. */
const PAUSE_MS = 5

/** Looks by an effect until what it sees is as a test waits for; dies and says what it waited for if that does not come. */
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
      // In real time, also where the test has a clock of its own.
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)))
    }
  })

/** The same for what is not looked at by an effect. */
export const untilAsync = <A>(what: string, look: () => A | Promise<A>, isThere: (seen: A) => boolean): Promise<A> =>
  Effect.runPromise(
    until(
      what,
      Effect.promise(async () => look()),
      isThere
    )
  )
