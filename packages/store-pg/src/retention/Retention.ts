import type { Instant } from "@workshop/core"
import {
  DAY_MS,
  HOUR_MS,
  logBackgroundFailure,
  MINUTE_MS,
  type RetentionWorker,
  ServiceLimits
} from "@workshop/core/store"
import { Clock, Effect, Layer, type Scope } from "effect"
import { type CellAddress, locateCells } from "../cells/CellLocations.js"
import { BEGIN, COMMIT, type Connection, makeReconnecting } from "../connection/Connection.js"
import { type PgFailure, reportFailure } from "../connection/PgFailure.js"
import { type Database, lockOf } from "../connection/Schema.js"
import { PLANNED_EACH_TIME } from "../connection/SessionClient.js"
import { type Statement, unnamedStatement } from "../connection/Statement.js"
import { clockGuard } from "../observe/ClockGuard.js"
import { ALLOW_BITMAP_SCANS, countOf, isTrue, maintainPartitions, type Partitioning } from "./Partitions.js"

/** The most rows that one statement removes. It is small, so that no other transaction waits long. */
const ROWS_PER_STATEMENT = 1_000

/** The most statements that one run sends for a table, so that other tables are not delayed. */
const MAX_STATEMENTS = 100

/** The time for which expired windows are kept, because other processes' clocks may be behind. */
const SPARE_MS = HOUR_MS

interface ExpiringTable {
  readonly table: string
  readonly key: string
  /** The column with the instant at which a row expires. */
  readonly until: string
  readonly spare_ms: number
}

/** The tables whose rows expire. Rows that another transaction has locked are left for the next run. */
const expiringTables: ReadonlyArray<ExpiringTable> = [
  { table: "idempotency_record", key: "shop_id, caller_id, operation, key", until: "expires_at", spare_ms: 0 },
  { table: "stamp_limit", key: "shop_id, caller_id, client_id", until: "resets_at", spare_ms: SPARE_MS },
  // Any client can create such rows, one for each address, so they are removed after a minute and not after an hour.
  // The clocks of ready processes differ by less than a second.
  { table: "rate_limit", key: "policy, subject", until: "resets_at", spare_ms: MINUTE_MS },
  // The process that wrote a receipt reads it within seconds.
  { table: "batch_receipt", key: "connection", until: "saved_at", spare_ms: DAY_MS }
]

const expireStatement = ({ table, key, until, spare_ms }: ExpiringTable, now: Instant): Statement => ({
  name: `expire ${table}`,
  text: `with gone as (
      delete from workshop.${table} where (${key}) in (
        select ${key} from workshop.${table} where ${until} <= $1 order by ${until} limit ${ROWS_PER_STATEMENT} for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone`,
  values: [now - spare_ms]
})

/** Runs a statement until it removes fewer rows than it may. */
const removeInBatches = (connection: Connection, statement: Statement) =>
  Effect.gen(function* () {
    let removed = 0
    for (let times = 0; times < MAX_STATEMENTS; times++) {
      const [, , result] = yield* connection.send([BEGIN, ALLOW_BITMAP_SCANS, statement, COMMIT])
      const n = countOf(result)
      removed += n
      if (n < ROWS_PER_STATEMENT) break
    }
    return { removed, isMore: removed === MAX_STATEMENTS * ROWS_PER_STATEMENT }
  })

/** The statements that remove delivered notifications and finished replays from before an instant. */
const agedStatements = (before: Instant): ReadonlyArray<Statement> => [
  {
    name: "remove old notification",
    text: `with gone as (
        delete from workshop.notification where ctid = any (array(
          select n.ctid from workshop.notification n where n.created_at < $1
            and not exists (select from workshop.queued_notification m where m.shop_id = n.shop_id and m.id = n.id) limit ${ROWS_PER_STATEMENT}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  },
  {
    name: "remove old replay",
    text: `with gone as (
        delete from workshop.replay where ctid = any (array(
          select ctid from workshop.replay where is_done and created_at < $1 order by created_at limit ${ROWS_PER_STATEMENT}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  }
]

/**
 * Removes idempotency records and rate-limit windows that expired by `now`, and notifications and replays older than
 * `before`. Returns the number of removed rows, and whether there are more.
 */
const removeExpired = (
  connection: Connection,
  now: Instant,
  before: Instant
): Effect.Effect<{ readonly expired: number; readonly isMore: boolean }, PgFailure> =>
  Effect.map(
    Effect.all([
      ...expiringTables.map((expiringTable) => removeInBatches(connection, expireStatement(expiringTable, now))),
      ...agedStatements(before).map((statement) => removeInBatches(connection, statement))
    ]),
    (all) => ({
      expired: all.reduce((sum, { removed }) => sum + removed, 0),
      isMore: all.some(({ isMore }) => isMore)
    })
  )

/** The options of retention: the databases, and the time for which rows are kept. */
export interface RetentionOptions extends Database {
  /** The time for which events and their attempts are kept, in milliseconds; `ServiceLimits.events_kept_ms` by default, and at least seven days. */
  readonly keepEventsMs?: number
  /** Further cells. Retention runs in one cell after another. */
  readonly cells?: ReadonlyArray<CellAddress>
}

/** The result of one run; null if another process is running. */
export type RetentionReport = (Partitioning & { readonly expired: number; readonly isMore: boolean }) | null

/** The advisory lock that a process holds while it removes old rows. */
const LOCK = 7_305_809

/** The pause between two runs. */
const RUN_INTERVAL = "5 minutes"

/** The time that a statement may take. */
const STATEMENT_TIMEOUT_MS = 60_000

/** Warns about missing partitions. The service works without them, but removing old rows row by row costs much more. */
const warnOfMissing = (missing: ReadonlyArray<string>) =>
  missing.length === 0
    ? Effect.void
    : Effect.logWarning(
        `These partitions for the coming months could not be created: ${missing.join(", ")}. Grant the service's role the right to execute maintain_partition (workshop migrate --roles, see "Database roles" in docs/operating.md), or end the transactions that lock the tables. The service tries again in five minutes.`
      )

/**
 * Removes old rows in small steps, so that no other transaction waits long: expired idempotency records and rate-limit
 * windows, and events with their attempts, one monthly partition at a time. Events that must still be delivered stay.
 * One process at a time does this. Partitions need a role that may execute `maintain_partition`; without it, old events are
 * removed row by row.
 */
export const retention = (
  options: RetentionOptions
): Effect.Effect<{ readonly runOnce: Effect.Effect<RetentionReport, PgFailure> }, never, Scope.Scope> => {
  const { url, schema, keepEventsMs = ServiceLimits.events_kept_ms } = options
  return Effect.zipWith(
    makeReconnecting({
      url,
      schema,
      name: "workshop retention",
      lock_timeout_ms: 1_000,
      statement_timeout_ms: STATEMENT_TIMEOUT_MS,
      // The statements run rarely, and Citus refuses generic plans.
      plans: PLANNED_EACH_TIME
    }),
    clockGuard,
    (link, checkClock) => ({
      runOnce: Effect.gen(function* () {
        const connection = yield* link.connection
        const [result] = yield* connection.send([
          unnamedStatement("lock retention", `select pg_try_advisory_lock(${lockOf(LOCK, schema)}) as is_true`)
        ])
        if (!isTrue(result)) return null
        // A process with a wrong clock would remove rows too early.
        yield* checkClock(connection)
        const now = yield* Clock.currentTimeMillis
        const before = now - Math.max(keepEventsMs, ServiceLimits.events_kept_min_ms)
        const removed = yield* removeExpired(connection, now, before)
        const partitioning = yield* maintainPartitions(connection, now, before)
        yield* warnOfMissing(partitioning.missing)
        yield* connection.send([
          unnamedStatement("unlock retention", `select pg_advisory_unlock(${lockOf(LOCK, schema)})`)
        ])
        return { ...partitioning, ...removed }
        // Closing the connection releases the lock, even after a failure.
      }).pipe(Effect.ensuring(link.drop))
    })
  )
}

/** Removes the old rows of a store, one cell after another. */
export const worker = (options: RetentionOptions): Effect.Effect<RetentionWorker, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { cells = [], ...ofEachCell } = options
    const places = yield* Effect.orDie(locateCells(ofEachCell, cells))
    const retentions = yield* Effect.forEach(places, ({ url, schema }) => retention({ ...ofEachCell, url, schema }))
    // An unavailable cell is logged once, because /readyz names it, and many cells may be unavailable.
    const failing = new Set<(typeof retentions)[number]>()
    const runAll = Effect.forEach(retentions, (retentionRun) =>
      reportFailure(retentionRun.runOnce).pipe(
        Effect.tap(() => Effect.sync(() => failing.delete(retentionRun))),
        Effect.catchAllCause((cause) => {
          const isLogged = retentions.length > 1 && failing.has(retentionRun)
          failing.add(retentionRun)
          const logged = logBackgroundFailure("Old rows could not be removed. The service tries again", cause)
          return Effect.as(isLogged ? Effect.void : logged, null)
        })
      )
    )
    return {
      runOnce: Effect.forEach(retentions, ({ runOnce }) => reportFailure(runOnce), { discard: true }),
      run: runAll.pipe(
        Effect.flatMap((reports) =>
          reports.some((report) => report?.isMore) ? Effect.void : Effect.sleep(RUN_INTERVAL)
        ),
        Effect.forever
      )
    }
  })

/**
 * Runs retention at the start and every five minutes, and again at once if there are more old rows. Retries an
 * unreachable database.
 */
export const layer = (options: RetentionOptions): Layer.Layer<never> =>
  Layer.scopedDiscard(Effect.flatMap(worker(options), ({ run }) => Effect.forkScoped(run)))
