import { Clock, Context, Effect } from "effect"
import type { Connection } from "../connection/Connection.js"
import { PgFailure } from "../connection/PgFailure.js"

/**
 * The largest accepted difference between a process's clock and its database's, in milliseconds. Beyond it, the process
 * runs no command of a shop and claims no delivery (Specification, Commands).
 */
const MAX_CLOCK_OFFSET_MS = 5_000

/** The time for which the result of a comparison is reused, in real time. */
const HOLDS_NS = 1_000_000_000n

/**
 * The deviation, in milliseconds, between the clock's and the monotonic time since the last comparison that causes a
 * new comparison.
 */
const STEP_MS = 500

/** This machine's clock, which is independent of a sandbox's clock. Tests provide another. */
export class MachineClock extends Context.Reference<MachineClock>()("@workshop/store-pg/MachineClock", {
  defaultValue: (): Clock.Clock => Clock.make()
}) {}

const DATABASE_TIME = {
  name: "database time",
  text: "select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms",
  values: []
}

/** The number of milliseconds by which one clock is ahead of the other, without the query's round trip. */
export const clockOffset = (
  processClock: { readonly readBefore: number; readonly readAfter: number },
  databaseClock: number
): number =>
  databaseClock < processClock.readBefore
    ? processClock.readBefore - databaseClock
    : databaseClock > processClock.readAfter
      ? processClock.readAfter - databaseClock
      : 0

const clockOffMessage = (ahead_ms: number) =>
  new PgFailure({
    kind: "wrongClock",
    code: null,
    constraint: null,
    cause: new Error(
      `The clock of this machine is ${Math.abs(Math.round(ahead_ms)) / 1000} seconds ${ahead_ms > 0 ? "ahead of" : "behind"} the database's clock, so this process runs no commands and sends no deliveries. Set both clocks by the same time server.`
    )
  })

/** Fails if this machine's clock differs too much from the database's for writing. */
export type ClockGuard = (connection: Connection) => Effect.Effect<void, PgFailure>

/**
 * A guard that compares the clock with the database's at most once a second, and as soon as the clock jumps, for
 * example after the machine was suspended. Without the guard, a wrong time would persist, because a shop's time never
 * goes back.
 */
export const clockGuard: Effect.Effect<ClockGuard> = Effect.map(MachineClock, (clock) => {
  let lastComparison: { readonly ms: number; readonly ns: bigint } | undefined

  const isRecent = (): boolean => {
    if (lastComparison === undefined) return false
    const passed_ns = clock.unsafeCurrentTimeNanos() - lastComparison.ns
    const passed_ms = clock.unsafeCurrentTimeMillis() - lastComparison.ms
    return passed_ns < HOLDS_NS && Math.abs(passed_ms - Number(passed_ns) / 1e6) < STEP_MS
  }

  const compare: ClockGuard = (connection) =>
    Effect.suspend(() => {
      const readBefore = clock.unsafeCurrentTimeMillis()
      return Effect.flatMap(connection.send([DATABASE_TIME]), ([result]) => {
        const readAfter = clock.unsafeCurrentTimeMillis()
        const ahead_ms = clockOffset({ readBefore, readAfter }, result!.rows[0]!.ms as number)
        const isOff = Math.abs(ahead_ms) > MAX_CLOCK_OFFSET_MS
        lastComparison = isOff ? undefined : { ms: readAfter, ns: clock.unsafeCurrentTimeNanos() }
        return isOff ? clockOffMessage(ahead_ms) : Effect.void
      })
    })

  return (connection) => Effect.suspend(() => (isRecent() ? Effect.void : compare(connection)))
})
