import type { Instant } from "@workshop/core"
import { Effect } from "effect"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK } from "../connection/Connection.js"
import { DENIED } from "../connection/DatabaseFailed.js"
import type { PgFailure } from "../connection/PgFailure.js"
import { type Statement, unnamedStatement } from "../connection/Statement.js"

/** A calendar month in UTC. Events and attempts each have a partition per month. */
interface Month {
  /** The suffix of the names of partitions, such as `2026_11`. */
  readonly name: string
  readonly from: Instant
  readonly until: Instant
}

const monthOf = (year: number, month: number): Month => {
  const from = Date.UTC(year, month)
  return { name: new Date(from).toISOString().slice(0, 7).replace("-", "_"), from, until: Date.UTC(year, month + 1) }
}

/** The month of an instant, and the `monthsAhead` months after it. */
const monthsFrom = (now: Instant, monthsAhead: number): ReadonlyArray<Month> => {
  const date = new Date(now)
  return Array.from({ length: monthsAhead + 1 }, (_, i) => monthOf(date.getUTCFullYear(), date.getUTCMonth() + i))
}

const MONTH_SUFFIX = /_(\d{4})_(\d{2})$/

/** Parses the month in the name of a partition; undefined if the name has none. */
const monthInName = (partition: string): Month | undefined => {
  const [, year, month] = MONTH_SUFFIX.exec(partition) ?? []
  return year === undefined ? undefined : monthOf(Number(year), Number(month) - 1)
}

/** The count that a statement returned as `n`. */
export const countOf = (result: QueryResult | undefined): number =>
  (result?.rows[0] as { readonly n: number } | undefined)?.n ?? 0

/** The condition that a statement returned as `is_true`. */
export const isTrue = (result: QueryResult | undefined): boolean =>
  (result?.rows[0] as { readonly is_true: boolean } | undefined)?.is_true === true

/** The number of months ahead for which partitions are created. */
const MONTHS_AHEAD = 2

/** The most rows that one statement moves or removes. It is small, so that no other transaction waits long. */
const ROWS_PER_STATEMENT = 1_000

/**
 * The partitioned tables, each with the column that chooses the partition and the condition for old rows `e` that must
 * stay.
 */
const partitioned = [
  {
    table: "event",
    by: "created_at",
    // A waiting delivery still needs its event, even if the webhook has been off for long.
    needed: "exists (select from workshop.delivery d where d.shop_id = e.shop_id and d.event_id = e.id)"
  },
  {
    table: "attempt",
    by: "started_at",
    // A replay continues the numbers of an event's attempts, so attempts stay while their event does.
    needed: "exists (select from workshop.event v where v.shop_id = e.shop_id and v.id = e.event_id)"
  }
] as const

type PartitionedTable = (typeof partitioned)[number]

/**
 * The largest default partition to which a partition is attached directly, because attaching scans the default
 * partition under a lock.
 */
const MAX_SCANNED_BYTES = 64 * 1024 * 1024

/**
 * Timeouts for a change of the schema. If its lock is not free soon, the change is left for the next run, because other
 * sessions queue behind a waiting one.
 */
const SHORT_TIMEOUTS = [
  unnamedStatement("wait briefly", "set local lock_timeout = 200"),
  unnamedStatement("work briefly", "set local statement_timeout = 1000")
]

/** Enables bitmap scans, which BRIN indexes need and which the session's settings disable. */
export const ALLOW_BITMAP_SCANS = unnamedStatement("look by age", "set local enable_bitmapscan = on")

// The SQLSTATEs after which a change of the schema is left for the next run.
/** The default partition has a new row of the month. */
const HAS_ROWS = ["23514"]
/** Citus changes schemas only on its coordinator. */
const NOT_ON_COORDINATOR = "0A000"
const LATER = [DENIED, ...HAS_ROWS, NOT_ON_COORDINATOR, "55P03", "57014", "40P01"]

type Step =
  | "add_constraint"
  | "validate_constraint"
  | "drop_constraint"
  | "attach"
  | "detach"
  | "move_needed"
  | "drop"
  | "delete_old"

const step = (step: Step, { table }: PartitionedTable, { name, from, until }: Month): Statement => ({
  name: "maintain partition",
  text: "select workshop.maintain_partition($1, $2, $3, $4, $5) as n",
  values: [step, table, name, from, until]
})

/** Changes the schema in one transaction. Returns false if the change is left for the next run. */
const tryChange = (connection: Connection, ...statements: ReadonlyArray<Statement>) =>
  connection.send([BEGIN, ...statements, COMMIT]).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ code }) => code !== null && LATER.includes(code),
      () => Effect.as(connection.send([ROLLBACK]), false)
    )
  )

const tryWithShortLock = (connection: Connection, ...statements: ReadonlyArray<Statement>) =>
  tryChange(connection, ...SHORT_TIMEOUTS, ...statements)

interface Partition {
  readonly name: string
  readonly is_attached: boolean
}

const FIND: Omit<Statement, "values"> = {
  name: "find partitions",
  text: `select c.relname as name, c.relispartition as is_attached from pg_class c
    where c.relnamespace = (select relnamespace from pg_class where oid = 'workshop.event'::regclass)
      and c.relkind = 'r' and c.relname ~ ('^' || $1 || '_[0-9]{4}_[0-9]{2}$') order by 1`
}

const listPartitions = (connection: Connection, { table }: PartitionedTable) =>
  Effect.map(
    connection.send([{ ...FIND, values: [table] }]),
    ([result]) => result!.rows as unknown as ReadonlyArray<Partition>
  )

/**
 * Reads whether the default partition is small, and whether it has rows of a month, for which no partition can then be
 * created.
 */
const readDefaultPartition = (connection: Connection, { table, by }: PartitionedTable, { from, until }: Month) =>
  Effect.map(
    connection.send([
      BEGIN,
      ALLOW_BITMAP_SCANS,
      {
        name: `rest of ${table}`,
        text: `select pg_relation_size('workshop.${table}_rest') < ${MAX_SCANNED_BYTES} as is_small,
          exists (select from workshop.${table}_rest where ${by} >= $1 and ${by} < $2) as has_rows`,
        values: [from, until]
      },
      COMMIT
    ]),
    (results) => results[2]!.rows[0] as { readonly is_small: boolean; readonly has_rows: boolean }
  )

/**
 * Attaches the partition of a future month without a scan of the default partition under a lock. It first adds a
 * constraint that excludes the month's rows to the default partition, and validates it while others write. It removes
 * the constraint in any case, because the constraint would refuse rows of that month.
 */
const attachWithConstraint = (connection: Connection, partitionedTable: PartitionedTable, month: Month) =>
  Effect.gen(function* () {
    if (
      !(yield* tryWithShortLock(
        connection,
        step("drop_constraint", partitionedTable, month),
        step("add_constraint", partitionedTable, month)
      ))
    )
      return false
    const attached =
      (yield* tryChange(connection, step("validate_constraint", partitionedTable, month))) &&
      (yield* tryWithShortLock(
        connection,
        step("attach", partitionedTable, month),
        step("drop_constraint", partitionedTable, month)
      ))
    if (!attached) yield* tryChange(connection, step("drop_constraint", partitionedTable, month))
    return attached
  })

const makePartition = (connection: Connection, partitionedTable: PartitionedTable, month: Month, now: Instant) =>
  Effect.gen(function* () {
    const { is_small, has_rows } = yield* readDefaultPartition(connection, partitionedTable, month)
    if (has_rows) return false
    if (is_small) return yield* tryWithShortLock(connection, step("attach", partitionedTable, month))
    return month.from > now && (yield* attachWithConstraint(connection, partitionedTable, month))
  })

const repeatWhileBatchIsFull = (
  connection: Connection,
  ...statements: ReadonlyArray<Statement>
): Effect.Effect<number, PgFailure> =>
  Effect.flatMap(connection.send([BEGIN, ...statements, COMMIT]), (results) => {
    const n = countOf(results.at(-2))
    return n < ROWS_PER_STATEMENT
      ? Effect.succeed(n)
      : Effect.map(repeatWhileBatchIsFull(connection, ...statements), (count) => n + count)
  })

/**
 * Detaches a partition, moves the rows that must stay to the default partition, and drops the partition. `concurrently`
 * is impossible with a default partition.
 */
const dropPartition = (
  connection: Connection,
  partitionedTable: PartitionedTable,
  { is_attached }: Partition,
  month: Month
) =>
  Effect.gen(function* () {
    if (is_attached && !(yield* tryWithShortLock(connection, step("detach", partitionedTable, month)))) return false
    yield* repeatWhileBatchIsFull(connection, step("move_needed", partitionedTable, month))
    return yield* tryWithShortLock(connection, step("drop", partitionedTable, month))
  })

/** A placeholder for the month's name. The step that removes rows by age ignores it. */
const ANY_MONTH = "0000_00"

/**
 * Removes old rows from the default partition, with the function, or with a DELETE if the role may not execute the
 * function.
 */
const removeFromDefault = (connection: Connection, partitionedTable: PartitionedTable, before: Instant) =>
  repeatWhileBatchIsFull(
    connection,
    ALLOW_BITMAP_SCANS,
    step("delete_old", partitionedTable, { name: ANY_MONTH, from: 0, until: before })
  ).pipe(
    Effect.catchIf(
      ({ code }) => code === DENIED,
      () => Effect.zipRight(connection.send([ROLLBACK]), deleteFromDefault(connection, partitionedTable, before))
    )
  )

const deleteFromDefault = (connection: Connection, { table, by, needed }: PartitionedTable, before: Instant) =>
  repeatWhileBatchIsFull(connection, ALLOW_BITMAP_SCANS, {
    name: `remove old ${table}`,
    text: `with gone as (
        delete from workshop.${table}_rest where ctid = any (array(
          select e.ctid from workshop.${table}_rest e where e.${by} < $1 and not ${needed} limit ${ROWS_PER_STATEMENT}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  })

/** The partitions that were created and dropped. */
export interface Partitioning {
  /** The names of the partitions that were created, for the coming months. */
  readonly created: ReadonlyArray<string>
  /**
   * The partitions of months ahead that could not be created. Rows of these months are stored in the default partition
   * and removed row by row.
   */
  readonly missing: ReadonlyArray<string>
  /** The names of the partitions that were dropped with their rows. */
  readonly dropped: ReadonlyArray<string>
  /** The number of rows that were removed row by row. */
  readonly removed: number
}

/**
 * Creates the partitions of this month and the next months, and drops partitions that are entirely older than `before`.
 */
export const maintainPartitions = (
  connection: Connection,
  now: Instant,
  before: Instant
): Effect.Effect<Partitioning, PgFailure> =>
  Effect.gen(function* () {
    const created: Array<string> = []
    const missing: Array<string> = []
    const dropped: Array<string> = []
    const notDropped = new Set<string>()
    let removed = 0
    for (const partitionedTable of partitioned) {
      const partitions = yield* listPartitions(connection, partitionedTable)
      const isAttached = (name: string) =>
        partitions.some((partition) => partition.name === name && partition.is_attached)
      for (const month of monthsFrom(now, MONTHS_AHEAD)) {
        const name = `${partitionedTable.table}_${month.name}`
        if (isAttached(name)) continue
        if (yield* makePartition(connection, partitionedTable, month, now)) created.push(name)
        else if (month.from > now) missing.push(name)
      }
      for (const partition of partitions) {
        const month = monthInName(partition.name)
        if (month === undefined || month.until > before) continue
        // Keeps the attempts of a month whose events were not dropped, because a replay continues the attempts'
        // numbers.
        if (notDropped.has(month.name)) continue
        if (yield* dropPartition(connection, partitionedTable, partition, month)) dropped.push(partition.name)
        else notDropped.add(month.name)
      }
      removed += yield* removeFromDefault(connection, partitionedTable, before)
    }
    return { created, missing, dropped, removed }
  })
