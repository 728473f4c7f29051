import { Clock, Context, Effect } from "effect"
import type { Connection } from "./Connection.js"
import { PgFailure } from "./PgFailure.js"

/** By how much the clock of a process may be off its database's, in milliseconds, before the process writes nothing any more (Specification, Commands). */
const MOST_OFF_MS = 5_000

/** How long a comparison holds, in real time. */
const HOLDS_NS = 1_000_000_000n

/** By how many milliseconds the clock may leave the real time that passed since, before it is compared anew. */
const STEP_MS = 500

/** This machine's clock: also that of a process whose sandbox tells another time. Tests give theirs. */
export class MachineClock extends Context.Reference<MachineClock>()("@workshop/store-pg/MachineClock", {
  defaultValue: (): Clock.Clock => Clock.make()
}) {}

const DATABASE_TIME = {
  name: "database time",
  text: "select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms",
  values: []
}

/** By how many milliseconds a clock is ahead of another; the time that the question and its answer took is not counted. */
export const aheadBy = (mine: { readonly asked: number; readonly answered: number }, other: number): number =>
  other < mine.asked ? mine.asked - other : other > mine.answered ? mine.answered - other : 0

const clockOff = (ahead_ms: number) =>
  new PgFailure({
    kind: "clock",
    code: null,
    constraint: null,
    cause: new Error(
      `The clock of this machine is ${Math.abs(Math.round(ahead_ms)) / 1000} seconds ${ahead_ms > 0 ? "ahead of" : "behind"} its database's, so this process writes nothing: set both by the same time server`
    )
  })

/** Fails where this machine's clock is too far off the database's to write anything by it. */
export type ClockGuard = (connection: Connection) => Effect.Effect<void, PgFailure>

/**
 * A guard that asks the database once a second at most, and again as soon as the clock was stepped, as after a machine was
 * suspended: what a wrong clock writes stays for good, since a shop's time never goes back.
 */
export const clockGuard: Effect.Effect<ClockGuard> = Effect.map(MachineClock, (clock) => {
  let compared: { readonly ms: number; readonly ns: bigint } | undefined

  const stillHolds = (): boolean => {
    if (compared === undefined) return false
    const passed_ns = clock.unsafeCurrentTimeNanos() - compared.ns
    const passed_ms = clock.unsafeCurrentTimeMillis() - compared.ms
    return passed_ns < HOLDS_NS && Math.abs(passed_ms - Number(passed_ns) / 1e6) < STEP_MS
  }

  const compare: ClockGuard = (connection) =>
    Effect.suspend(() => {
      const asked = clock.unsafeCurrentTimeMillis()
      return Effect.flatMap(connection.send([DATABASE_TIME]), ([answer]) => {
        const answered = clock.unsafeCurrentTimeMillis()
        const ahead_ms = aheadBy({ asked, answered }, answer!.rows[0]!.ms as number)
        const isOff = Math.abs(ahead_ms) > MOST_OFF_MS
        compared = isOff ? undefined : { ms: answered, ns: clock.unsafeCurrentTimeNanos() }
        return isOff ? clockOff(ahead_ms) : Effect.void
      })
    })

  return (connection) => Effect.suspend(() => (stillHolds() ? Effect.void : compare(connection)))
})
