import { type Clock, Effect } from "effect"
import { durationInWords } from "../domain/durationInWords.js"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { Directory } from "../ports/Directory.js"
import { readClock } from "../ports/readClock.js"
import type { StoreUnavailable } from "../ports/Store.js"

const { data_ahead_max_ms, data_ahead_check_every_ms } = ServiceLimits

/**
 * Compares the data with the clock: logs at once that they are more than ten seconds ahead of it, and answers an effect that
 * says so for as long as they are; null where nothing is wrong. Then either is wrong, and what is created bears an instant
 * that is yet to come.
 */
export const dataAhead: Effect.Effect<Effect.Effect<string | null, StoreUnavailable>, never, Directory> = Effect.gen(
  function* () {
    const { latest } = yield* Directory
    let fine: { readonly at: Instant; readonly ns: bigint } | undefined

    const compare = (clock: Clock.Clock) =>
      Effect.map(latest, (latest) => {
        const at = clock.unsafeCurrentTimeMillis()
        const isAhead = latest - at > data_ahead_max_ms
        fine = isAhead ? undefined : { at, ns: clock.unsafeCurrentTimeNanos() }
        return isAhead
          ? `The data are ${durationInWords(Math.round((latest - at) / 1000))} ahead of this server's clock: set the clock right or, where a wrong clock or a sandbox dated them, run workshop shop repair-clock.`
          : null
      })
    const complaint = readClock((clock) => {
      // A clock that was set back since has to be compared anew.
      const isFine =
        fine !== undefined &&
        clock.unsafeCurrentTimeMillis() >= fine.at &&
        clock.unsafeCurrentTimeNanos() - fine.ns < BigInt(data_ahead_check_every_ms) * 1_000_000n
      return isFine ? Effect.succeed(null) : compare(clock)
    })

    // A store that does not answer is reported by whoever asks it for more than this.
    const found = yield* Effect.catchAll(complaint, () => Effect.succeed(null))
    if (found !== null) yield* Effect.logWarning(found)
    return complaint
  }
)
