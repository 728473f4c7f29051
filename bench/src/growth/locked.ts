import type { Entropy, StorePorts } from "@workshop/core"
import { type LimitUse, RateLimits, Reads } from "@workshop/core/store"
import { Effect } from "effect"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { runCommand, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import type { Cluster } from "../pg/Cluster.js"
import { openFilled, shopId } from "./Queue.js"

const READERS = 24

/** Our connections to the server at one moment. */
interface Seen {
  readonly open: number
  /** The duration of the oldest running statement, in seconds. */
  readonly oldest: number
}

/**
 * Locks the table of tickets for some seconds, while readers and writers repeat their requests, all of which need the
 * table. Returns the largest number of connections, the longest duration of a statement, the number of requests that
 * succeeded meanwhile, and the time from the end of the lock to the first successful create.
 */
export const lockedTable = (database: Cluster["database"], seconds: number) =>
  Effect.gen(function* () {
    const url = yield* database("locked")
    const { clock, context } = yield* openFilled(url, { shops: 10, waiting: 10, each: 10 })
    const holder = yield* openMigrationSession(url)
    const observer = yield* openMigrationSession(url)
    const look = Effect.map(
      observer.run<Seen>(`select count(*)::integer as open,
          coalesce(max(extract(epoch from clock_timestamp() - query_start)) filter (where state = 'active'), 0)::double precision as oldest
        from pg_stat_activity where datname = current_database() and application_name like 'workshop %'`),
      ([row]) => row!
    )
    const create = runCommand(createTicket(shopId(1), ticketInput(), { via: "api", foundWords: [] }))
    const read = Effect.flatMap(Reads, (reads) => reads.tickets(shopId(1), {}, { _tag: "Newest", after: null }, 50))
    const take: LimitUse = { policy: "requests_per_minute", subject: "a caller", time_zone: null }
    const count = Effect.flatMap(RateLimits, (limits) => limits.take([take], clock.unsafeCurrentTimeMillis()))
    return yield* Effect.gen(function* () {
      const end = performance.now() + seconds * 1_000
      let answered = 0
      const again = (act: Effect.Effect<unknown, unknown, StorePorts | Entropy>, isAnswer: boolean) =>
        Effect.exit(act).pipe(
          Effect.tap((exit) =>
            Effect.sync(() => {
              if (isAnswer && exit._tag === "Success") answered++
            })
          ),
          Effect.zipRight(Effect.yieldNow()),
          Effect.repeat({ until: () => performance.now() > end })
        )
      const samples: Array<Seen> = []
      const looking = look.pipe(
        Effect.tap((one) => Effect.sync(() => void samples.push(one))),
        Effect.zipRight(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 100)))),
        Effect.repeat({ until: () => performance.now() > end })
      )
      yield* holder.run("begin; lock table ticket in access exclusive mode")
      const acts = [
        ...Array.from({ length: READERS }, () => again(read, true)),
        again(create, true),
        again(count, false)
      ]
      yield* Effect.all([...acts, looking], { concurrency: "unbounded", discard: true })
      yield* holder.run("commit")
      const unlocked = performance.now()
      yield* Effect.eventually(create)
      return {
        connections: Math.max(...samples.map(({ open }) => open)),
        statement_s: Math.max(...samples.map(({ oldest }) => oldest)),
        answered,
        back_ms: performance.now() - unlocked
      }
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  }).pipe(Effect.scoped)
