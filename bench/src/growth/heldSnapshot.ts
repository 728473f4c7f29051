import { Deliveries } from "@workshop/core/store"
import { Effect } from "effect"
import { record, statusResult } from "../../../packages/core/dist/testing/TestDispatcher.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import type { BenchClock } from "../create/Workload.js"
import { median } from "../Median.js"
import type { Cluster } from "../pg/Cluster.js"
import { openFilled } from "./Queue.js"

const SHOPS = 50
/** The deliveries per second of the benchmark's clock while the snapshot is held. */
const RATE = 100
const AT_ONCE = 64

/**
 * Claims and records deliveries for some seconds of the clock, and returns the duration of each claim in milliseconds.
 */
const delivering = (clock: BenchClock, seconds: number) =>
  Effect.gen(function* () {
    const deliveries = yield* Deliveries
    const durations: Array<number> = []
    for (let count = 0; count < seconds * RATE; count += AT_ONCE) {
      clock.advance((AT_ONCE * 1000) / RATE)
      const begun = performance.now()
      const claims = yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), AT_ONCE)
      durations.push(performance.now() - begun)
      yield* Effect.forEach(claims, (claim) => record(claim, statusResult(200)), {
        concurrency: "unbounded",
        discard: true
      })
    }
    return durations
  })

/** Measures the duration of a claim before a snapshot is held, and in each tenth of the minutes in which it is held. */
export const heldSnapshot = (database: Cluster["database"], minutes: number) =>
  Effect.gen(function* () {
    const url = yield* database("snapshot")
    const each = ((minutes + 2) * 60 * RATE) / SHOPS
    const { clock, context } = yield* openFilled(url, { shops: SHOPS, waiting: SHOPS, each })
    const holder = yield* openMigrationSession(url)
    return yield* Effect.gen(function* () {
      const before = median(yield* delivering(clock, 60))
      yield* holder.run("begin isolation level repeatable read; select count(*) from shop")
      const tenths: Array<number> = []
      for (let i = 0; i < 10; i++) tenths.push(median(yield* delivering(clock, minutes * 6)))
      yield* holder.run("commit")
      return { before, tenths }
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  })
