import { type PolicyName, StoreUnavailable } from "@workshop/core"
import {
  giveBackUses,
  type LimitUse,
  type LimitWindow,
  type LimitWindows,
  peekLimit,
  type RateLimits,
  useLimits
} from "@workshop/core/store"
import { Cause, type Context, Effect, Schedule, type Scope } from "effect"
import { batchLoop } from "./BatchLoop.js"
import { BEGIN, COMMIT, type ReconnectingConnection, ROLLBACK, reconnecting } from "./connection/Connection.js"
import { PgFailure, storeFailure } from "./connection/PgFailure.js"
import type { Database } from "./connection/Schema.js"
import type { Statement } from "./connection/Statement.js"

/** A window as its table stores it. */
interface RateLimitRow extends LimitWindow {
  readonly policy: PolicyName
  readonly subject: string
}

type WindowKey = Pick<RateLimitRow, "policy" | "subject">

/** The key of a window as text. */
const keyOf = ({ policy, subject }: WindowKey): string => `${policy} ${subject}`

/** The last use of each window, so that each is locked once. */
const distinct = (uses: ReadonlyArray<LimitUse>): ReadonlyArray<LimitUse> => [
  ...new Map(uses.map((use) => [keyOf(use), use])).values()
]

/** The windows that a transaction has locked, with its changes to them. */
export class LockedWindows implements LimitWindows {
  readonly #windows: Map<string, LimitWindow>
  readonly #changed = new Map<string, RateLimitRow>()

  constructor(rows: ReadonlyArray<RateLimitRow>) {
    this.#windows = new Map(rows.map((row) => [keyOf(row), row]))
  }

  get(key: WindowKey): LimitWindow | undefined {
    return this.#windows.get(keyOf(key))
  }

  put({ policy, subject }: WindowKey, window: LimitWindow): void {
    const row = { policy, subject, ...window }
    this.#windows.set(keyOf(row), row)
    this.#changed.set(keyOf(row), row)
  }

  /** The statements that save the changes and commit, or roll back if there are none. */
  endStatements(): ReadonlyArray<Statement> {
    const rows = [...this.#changed.values()]
    return rows.length === 0 ? [ROLLBACK] : [putStatement(rows), COMMIT]
  }
}

/** The keys as the values of two array parameters. */
const columnsOf = (keys: ReadonlyArray<WindowKey>) => [
  keys.map(({ policy }) => policy),
  keys.map(({ subject }) => subject)
]

/** The keys in the order in which all processes lock windows, so that they cannot deadlock. To sort them, the database would scan its whole index. */
const inLockOrder = (keys: ReadonlyArray<WindowKey>): ReadonlyArray<WindowKey> =>
  keys.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

const KEYS = "unnest($1::text[], $2::text[]) q (policy, subject)"

/**
 * Begins a transaction, inserts missing rows, and locks all of them; the last statement returns the rows. Each row is looked up by its key,
 * so the cost does not grow with the table.
 */
export const lockStatements = (keys: ReadonlyArray<WindowKey>): ReadonlyArray<Statement> => {
  const values = columnsOf(inLockOrder(keys))
  return [
    BEGIN,
    {
      name: "open rate_limit",
      text: `insert into workshop.rate_limit (policy, subject, used, resets_at) select policy, subject, 0, 0 from ${KEYS} on conflict do nothing`,
      values
    },
    {
      name: "lock rate_limit",
      text: `select r.policy, r.subject, r.used, r.resets_at::double precision as resets_at from ${KEYS} cross join lateral (
        select * from workshop.rate_limit l where l.policy = q.policy and l.subject = q.subject for update
      ) r`,
      values
    }
  ]
}

/** Saves windows. An upsert finds each row by the primary key, even if the planner's statistics of the table are outdated. */
const putStatement = (rows: ReadonlyArray<RateLimitRow>): Statement => ({
  name: "put rate_limit",
  text: `insert into workshop.rate_limit (policy, subject, used, resets_at)
    select * from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[])
    on conflict (policy, subject) do update set used = excluded.used, resets_at = excluded.resets_at`,
  values: [...columnsOf(rows), rows.map(({ used }) => used), rows.map(({ resets_at }) => resets_at)]
})

/** A request that waits to be counted. */
interface Job {
  readonly uses: ReadonlyArray<LimitUse>
  /** Changes the locked windows. Returns a function that reports the result, which is called once the changes are saved. */
  readonly run: (windows: LimitWindows) => () => void
  readonly fail: (cause: Cause.Cause<StoreUnavailable>) => void
}

/** How many requests one transaction counts at most. */
const MAX_JOBS = 512

/** How many requests may wait to be counted. */
const MAX_WAITING = 10_000

/** How long counting may take, in real time. Every request waits for it, so an unavailable database must be noticed soon. */
const ANSWER_TIMEOUT_MS = 2_000

/** How long counting waits for a lock. It waits once, because a read is counted first and must respond within about a second. */
const LOCK_TIMEOUT_MS = 1_000

/** Retention deleted the row of an ended window between the two statements. */
const windowRemoved = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("A window was removed")
})

/** Counts requests that arrived at the same moment, in one transaction. */
const countTogether = (link: ReconnectingConnection, jobs: ReadonlyArray<Job>): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const connection = yield* link.connection
    const uses = distinct(jobs.flatMap((job) => job.uses))
    const answers = yield* connection.send(lockStatements(uses))
    const rows = answers.at(-1)!.rows as unknown as ReadonlyArray<RateLimitRow>
    if (rows.length < uses.length) return yield* windowRemoved
    const windows = new LockedWindows(rows)
    const reports = jobs.map(({ run }) => run(windows))
    yield* connection.send(windows.endStatements())
    for (const report of reports) report()
  }).pipe(Effect.tapError(link.undo))

const refusal = (why: string) => Cause.fail(new StoreUnavailable({ cause: new Error(why) }))
const closing = refusal("The store is closing")
const tooMany = refusal("Too many requests wait to be counted")

const RETRIES = Schedule.recurs(5)

/**
 * Whether to count again after a failure. After a lost connection a use may count twice, which is acceptable for windows of minutes and
 * hours. After a lock time-out or a late result, the requests have already waited as long as they may.
 */
const mayRunAgain = ({ kind }: PgFailure): boolean => kind === "conflict" || kind === "lost"

/** The counts of the rate limits, in rows that all processes of the service share. */
export const pgRateLimits = (
  database: Database,
  connecting = reconnecting
): Effect.Effect<Context.Tag.Service<RateLimits>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* connecting({
      ...database,
      name: "workshop limits",
      lock_timeout_ms: LOCK_TIMEOUT_MS,
      answer_timeout_ms: ANSWER_TIMEOUT_MS
    })
    const queue: Array<Job> = []
    /** Fails jobs, and all that wait, because those would wait for the same connection. */
    const failAll = (jobs: ReadonlyArray<Job>, cause: Cause.Cause<StoreUnavailable>): void => {
      for (const { fail } of [...jobs, ...queue.splice(0)]) fail(cause)
    }
    const countNext = Effect.suspend(() => {
      const jobs = queue.splice(0, MAX_JOBS)
      return countTogether(connection, jobs).pipe(
        Effect.retry({ schedule: RETRIES, while: mayRunAgain }),
        Effect.catchAll((cause) => Effect.sync(() => failAll(jobs, storeFailure(cause)))),
        // A bug in the store. The loop continues, because otherwise all requests would wait forever.
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
      close: () => failAll([], closing)
    })

    const enqueue = <A, E>(uses: ReadonlyArray<LimitUse>, run: (windows: LimitWindows) => Effect.Effect<A, E>) =>
      Effect.async<A, E | StoreUnavailable>((resume) => {
        if (loop.isClosed()) return resume(Effect.failCause(closing))
        if (queue.length >= MAX_WAITING) return resume(Effect.failCause(tooMany))
        queue.push({
          uses,
          run: (windows) => {
            const answer = run(windows)
            return () => resume(answer)
          },
          fail: (cause) => resume(Effect.failCause(cause))
        })
        loop.wake()
      })

    return {
      take: (uses, now) => enqueue(uses, (windows) => useLimits(windows, uses, now)),
      giveBack: (uses, limitStatuses) =>
        enqueue(uses, (windows) => Effect.succeed(giveBackUses(windows, uses, limitStatuses))),
      look: (one, now) => enqueue([one], (windows) => Effect.succeed(peekLimit(windows, one, now)))
    }
  })
