import { Clock, Context, Effect } from "effect"
import type { Connection } from "../connection/Connection.js"
import { PgFailure } from "../connection/PgFailure.js"

/**
 * The largest difference between a process's clock and its database's, in milliseconds; beyond it, the process runs no
 * command of a shop and claims no delivery (Specification, Commands).
 */
const MOST_OFF_MS = 5_000

/** The time for which the result of a comparison is used, in real time. */
const HOLDS_NS = 1_000_000_000n

/** How many milliseconds the clock may deviate from the real time since the last comparison, before it is compared again. */
const STEP_MS = 500

/** This machine's clock, even if a sandbox's clock shows another time. Tests provide their own. */
export class MachineClock extends Context.Reference<MachineClock>()("@workshop/store-pg/MachineClock", {
  defaultValue: (): Clock.Clock => Clock.make()
}) {}

const DATABASE_TIME = {
  name: "database time",
  text: "select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms",
  values: []
}

/** How many milliseconds a clock is ahead of another, not counting the round trip of the query. */
export const aheadBy = (mine: { readonly asked: number; readonly answered: number }, other: number): number =>
  other < mine.asked ? mine.asked - other : other > mine.answered ? mine.answered - other : 0

const clockOff = (ahead_ms: number) =>
  new PgFailure({
    kind: "clock",
    code: null,
    constraint: null,
    cause: new Error(
      `The clock of this machine is ${Math.abs(Math.round(ahead_ms)) / 1000} seconds ${ahead_ms > 0 ? "ahead of" : "behind"} its database's, so this process runs no command of a shop and claims no delivery. Set both by the same time server.`
    )
  })

/** Fails if this machine's clock is too far off the database's for writing. */
export type ClockGuard = (connection: Connection) => Effect.Effect<void, PgFailure>

/**
 * A guard that compares the clock with the database's once a second at most, and as soon as the clock jumps, as after the machine was
 * suspended. The times of a wrong clock would stay, because a shop's time never goes back.
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
      return Effect.flatMap(connection.send([DATABASE_TIME]), ([result]) => {
        const answered = clock.unsafeCurrentTimeMillis()
        const ahead_ms = aheadBy({ asked, answered }, result!.rows[0]!.ms as number)
        const isOff = Math.abs(ahead_ms) > MOST_OFF_MS
        compared = isOff ? undefined : { ms: answered, ns: clock.unsafeCurrentTimeNanos() }
        return isOff ? clockOff(ahead_ms) : Effect.void
      })
    })

  return (connection) => Effect.suspend(() => (stillHolds() ? Effect.void : compare(connection)))
})
