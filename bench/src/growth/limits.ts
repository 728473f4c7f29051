import { RateLimits } from "@workshop/core/store"
import { Effect } from "effect"
import { SHOPS } from "../create/Workload.js"
import { medianTime } from "../medianTime.js"
import type { Cluster } from "../pg/Cluster.js"
import { openFilled } from "./Queue.js"

/** The number of concurrent requests. */
export const AT_ONCE = 64

/**
 * Measures the time to count a request against its limits for several numbers of keys: alone, and with
 * {@link AT_ONCE} requests concurrently.
 */
export const countingRequests = (database: Cluster["database"], keys: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const url = yield* database("limits")
    const { clock, context, session } = yield* openFilled(url, { shops: SHOPS, waiting: 0, each: 0 })
    const limits = yield* Effect.provide(RateLimits, context)
    const now = clock.unsafeCurrentTimeMillis()
    let known = 0
    const measurements: Array<{ readonly keys: number; readonly alone: number; readonly together: number }> = []
    for (const n of keys) {
      yield* session.run(
        `insert into rate_limit select 'requests_per_minute', 'key ' || n, 1, $1 from generate_series($2::integer, $3::integer) n`,
        [now + 60_000, known + 1, n]
      )
      known = n
      yield* session.run("vacuum analyze rate_limit")
      let count = 0
      const take = Effect.suspend(() => {
        const subject = `key ${((++count * 7919) % n) + 1}`
        return Effect.either(limits.take([{ policy: "requests_per_minute", subject, time_zone: null }], now))
      })
      const together = Effect.all(
        Array.from({ length: AT_ONCE }, () => take),
        { concurrency: "unbounded", discard: true }
      )
      yield* medianTime(50, take)
      measurements.push({ keys: n, alone: yield* medianTime(300, take), together: yield* medianTime(60, together) })
    }
    return measurements
  })
