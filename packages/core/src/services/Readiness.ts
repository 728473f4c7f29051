import { Effect } from "effect"
import { ServiceLimits } from "../domain/Limits.js"
import { Probes, type UnavailableCell } from "../ports/Probes.js"
import { Directory } from "../ports/StorePorts.js"
import { logBackgroundFailure, remedyIn } from "./BackgroundFailure.js"
import { aheadReason } from "./ClockRepair.js"

/** Why a process whose store responds should get no requests all the same; null if nothing is wrong. */
const complaint = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ complaint = Effect.succeed(null) }) => complaint, { concurrency: "unbounded" }),
    (found) => found.find((one) => one !== null) ?? null
  )
)

/** The cells that cannot be used, whose shops alone are refused. */
export const unavailableCells: Effect.Effect<ReadonlyArray<UnavailableCell>> = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ unavailable = Effect.succeed([]) }) => unavailable),
    (found) => found.flat()
  )
)

/** Why the process should get no requests for now, in a sentence for its operator; null if it is ready (Specification, Commands). */
export const notReadyReason: Effect.Effect<string | null, never, Directory> = Effect.gen(function* () {
  const directory = yield* Directory
  // No key has this hash: a look-up that the store must really make. It needs the home cell, without which the shops of other cells are
  // served; while some cell is unavailable, the probe of the cells knows whether any responds.
  const { length } = yield* unavailableCells
  if (length === 0) yield* directory.keyByHash("readyz")
  return (yield* complaint) ?? (yield* aheadReason)
}).pipe(
  // A read of a store that stays silent cannot be interrupted at once, so nobody waits for its end.
  Effect.disconnect,
  Effect.timeout(ServiceLimits.readiness_ms),
  Effect.catchAllCause((cause) =>
    Effect.as(
      logBackgroundFailure("Not ready: the store does not answer", cause),
      remedyIn(cause) ?? "The service cannot reach its store; try again in a moment"
    )
  )
)
