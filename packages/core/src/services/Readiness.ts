import { Effect } from "effect"
import { ServiceLimits } from "../domain/Limits.js"
import { type AwayCell, Probes } from "../ports/Probes.js"
import { Directory, type StoreUnavailable } from "../ports/StorePorts.js"
import { logBackgroundFailure, remedyIn } from "./BackgroundFailure.js"
import { dataAhead } from "./ClockRepair.js"

/** Why a process whose store responds should get no requests all the same; null if nothing is wrong. */
const complaint = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ complaint = Effect.succeed(null) }) => complaint, { concurrency: "unbounded" }),
    (found) => found.find((one) => one !== null) ?? null
  )
)

/** The cells that cannot be used, whose shops alone are refused. */
export const cellsAway: Effect.Effect<ReadonlyArray<AwayCell>> = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ away = Effect.succeed([]) }) => away),
    (found) => found.flat()
  )
)

/** Whether the data are ahead of the clock. */
type Ahead = Effect.Effect<string | null, StoreUnavailable, Directory>

/** Looks at the store, for a bounded time: a read of a store that stays silent cannot be interrupted at once, so nobody waits for its end. */
const reasonWith = (ahead: Ahead) =>
  Effect.gen(function* () {
    const directory = yield* Directory
    // No key has this hash: a look-up that the store must really make. It needs the home cell, without which the shops of other cells are
    // served; while some cell is away, the probe of the cells knows whether any responds.
    yield* Effect.flatMap(cellsAway, ({ length }) => Effect.unless(directory.keyByHash("readyz"), () => length > 0))
    return (yield* complaint) ?? (yield* ahead)
  }).pipe(
    Effect.disconnect,
    Effect.timeout(ServiceLimits.readiness_ms),
    Effect.catchAllCause((cause) =>
      Effect.as(
        logBackgroundFailure("Not ready: the store does not answer", cause),
        remedyIn(cause) ?? "The service cannot reach its store; try again in a moment"
      )
    )
  )

/**
 * Why the process should get no requests for now, in a sentence for its operator; null if it is ready (Specification, Commands). It looks
 * once at the start, and logs if the data are ahead of the clock.
 */
export const notReadyReason: Effect.Effect<Effect.Effect<string | null>, never, Directory> = Effect.gen(function* () {
  const ahead = yield* dataAhead
  return Effect.provideService(reasonWith(ahead), Directory, yield* Directory)
})

/** The same for a program that asks when it likes: the first question looks at the clock too, within its time. */
export const notReadyReasonOnceAsked = (): Effect.Effect<string | null, never, Directory> => {
  let known: Ahead | undefined
  const ahead: Ahead = Effect.suspend(
    () =>
      known ??
      Effect.flatMap(dataAhead, (made) => {
        known = made
        return made
      })
  )
  return reasonWith(ahead)
}
