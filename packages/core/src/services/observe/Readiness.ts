import { Effect } from "effect"
import { ServiceLimits } from "../../domain/Limits.js"
import { Probes, type UnavailableCell } from "../../ports/Probes.js"
import { Directory } from "../../ports/StorePorts.js"
import { logBackgroundFailure, remedyIn } from "../background/BackgroundFailure.js"
import { dataAheadReason } from "../clock/ClockRepair.js"

/** Why a process should get no requests although its store responds; null if it should. */
const complaint = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ complaint = Effect.succeed(null) }) => complaint, { concurrency: "unbounded" }),
    (reasons) => reasons.find((reason) => reason !== null) ?? null
  )
)

/** The cells that cannot be used. Only requests of their shops are refused. */
export const unavailableCells: Effect.Effect<ReadonlyArray<UnavailableCell>> = Effect.flatMap(Probes, (probes) =>
  Effect.map(
    Effect.forEach(probes ?? [], ({ unavailable = Effect.succeed([]) }) => unavailable),
    (warnings) => warnings.flat()
  )
)

/** Why the process should get no requests for now, in a sentence for its operator; null if it is ready (Specification, Commands). */
export const notReadyReason: Effect.Effect<string | null, never, Directory> = Effect.gen(function* () {
  const directory = yield* Directory
  // No key has this hash, so no cache can have the result, and the store must look it up. With several cells this
  // queries the home cell, whose failure does not affect other cells. If any cell is unavailable, the probe of the
  // cells therefore decides instead.
  const { length } = yield* unavailableCells
  if (length === 0) yield* directory.keyByHash("readyz")
  return (yield* complaint) ?? (yield* dataAheadReason)
}).pipe(
  // A read of a store that does not respond may not be interruptible, so a timeout does not wait for its end.
  Effect.disconnect,
  Effect.timeout(ServiceLimits.readiness_ms),
  Effect.catchAllCause((cause) =>
    Effect.as(
      logBackgroundFailure("This process is not ready, because the store does not respond", cause),
      remedyIn(cause) ?? "The service cannot reach its store. Try again in a moment."
    )
  )
)
