import { StoreUnavailable } from "@workshop/core"
import {
  giveBackUses,
  type LimitUse,
  type LimitWindows,
  peekLimit,
  type RateLimits,
  ServiceLimits,
  takeEach
} from "@workshop/core/store"
import { Cause, type Context, Effect, Schedule, type Scope } from "effect"
import { batchLoop } from "../commands/BatchLoop.js"
import { makeReconnecting, type ReconnectingConnection } from "../connection/Connection.js"
import { PgFailure, storeFailure } from "../connection/PgFailure.js"
import type { Database } from "../connection/Schema.js"
import { distinctUses, LockedWindows, lockStatements, type RateLimitRow } from "./LockedWindows.js"

/** A request that waits to be counted. */
interface Job {
  readonly uses: ReadonlyArray<LimitUse>
  /** Changes the locked windows. Returns a function that reports the result, which is called once the changes are saved. */
  readonly run: (windows: LimitWindows) => () => void
  readonly fail: (cause: Cause.Cause<StoreUnavailable>) => void
}

/** The most requests that one transaction counts. */
const MAX_REQUESTS_PER_TRANSACTION = 512

const { rate_limits_waiting } = ServiceLimits

/** The time that counting may take, in real time. It is short, because every request waits for it. */
const STATEMENT_TIMEOUT_MS = 2_000

/**
 * The time that counting waits for a lock. There is no retry, because a read is counted first and must respond within
 * about a second.
 */
const LOCK_TIMEOUT_MS = 1_000

/** The conflict that retention deleted an expired window's row between the two statements. */
const windowRemovedFailure = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("A rate limit window was removed meanwhile")
})

/** Counts several requests in one transaction. */
const countTogether = (link: ReconnectingConnection, jobs: ReadonlyArray<Job>): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const connection = yield* link.connection
    const uses = distinctUses(jobs.flatMap((job) => job.uses))
    const results = yield* connection.send(lockStatements(uses))
    const rows = results.at(-1)!.rows as unknown as ReadonlyArray<RateLimitRow>
    if (rows.length < uses.length) return yield* windowRemovedFailure
    const windows = new LockedWindows(rows)
    const reports = jobs.map(({ run }) => run(windows))
    yield* connection.send(windows.endStatements())
    for (const report of reports) report()
  }).pipe(Effect.tapError(link.undo))

const refusal = (why: string) => Cause.fail(new StoreUnavailable({ cause: new Error(why) }))
const closingRefusal = refusal("The store is closing")
const tooManyRefusal = refusal("Too many requests wait to be counted")

const RETRIES = Schedule.recurs(5)

/**
 * Whether to retry after a failure. After a lost connection a use may count twice, which is acceptable for windows of
 * minutes and hours. There is no retry after a lock timeout or a late result, because the requests have already waited
 * for the maximum time.
 */
const mayRunAgain = ({ kind }: PgFailure): boolean => kind === "conflict" || kind === "connectionLost"

/** The counts of the rate limits, in rows that all processes of the service share. */
export const pgRateLimits = (
  database: Database,
  makeConnection = makeReconnecting
): Effect.Effect<Context.Tag.Service<RateLimits>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* makeConnection({
      ...database,
      name: "workshop limits",
      lock_timeout_ms: LOCK_TIMEOUT_MS,
      statement_timeout_ms: STATEMENT_TIMEOUT_MS
    })
    const queue: Array<Job> = []
    /** Fails the given jobs and all waiting jobs, because the waiting jobs would wait for the same connection. */
    const failAll = (jobs: ReadonlyArray<Job>, cause: Cause.Cause<StoreUnavailable>): void => {
      for (const { fail } of [...jobs, ...queue.splice(0)]) fail(cause)
    }
    const countNext = Effect.suspend(() => {
      const jobs = queue.splice(0, MAX_REQUESTS_PER_TRANSACTION)
      return countTogether(connection, jobs).pipe(
        Effect.retry({ schedule: RETRIES, while: mayRunAgain }),
        Effect.catchAll((cause) => Effect.sync(() => failAll(jobs, storeFailure(cause)))),
        // A defect of the store fails the jobs but not the loop, because otherwise all later requests would wait
        // forever.
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(
            connection.drop,
            Effect.sync(() => failAll(jobs, Cause.die(defect)))
          )
        ),
        Effect.ensuring(connection.release)
      )
    })
    const loop = yield* batchLoop({
      hasWaiting: () => queue.length > 0,
      runBatch: countNext,
      close: () => failAll([], closingRefusal)
    })

    const enqueue = <A, E>(uses: ReadonlyArray<LimitUse>, run: (windows: LimitWindows) => Effect.Effect<A, E>) =>
      Effect.async<A, E | StoreUnavailable>((resume) => {
        if (loop.isClosed()) return resume(Effect.failCause(closingRefusal))
        if (queue.length >= rate_limits_waiting) return resume(Effect.failCause(tooManyRefusal))
        queue.push({
          uses,
          run: (windows) => {
            const result = run(windows)
            return () => resume(result)
          },
          fail: (cause) => resume(Effect.failCause(cause))
        })
        loop.wake()
      })

    return {
      take: (uses, now) => enqueue(uses, (windows) => takeEach(windows, uses, now)),
      giveBack: (uses, limitStatuses) =>
        enqueue(uses, (windows) => Effect.succeed(giveBackUses(windows, uses, limitStatuses))),
      peek: (one, now) => enqueue([one], (windows) => Effect.succeed(peekLimit(windows, one, now)))
    }
  })
