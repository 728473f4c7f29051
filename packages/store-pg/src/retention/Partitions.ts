import type { Instant } from "@workshop/core"
import { Effect } from "effect"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK } from "../connection/Connection.js"
import type { PgFailure } from "../connection/PgFailure.js"
import { once, type Statement } from "../connection/Statement.js"

/** A calendar month in UTC, for which events and attempts have a partition each. */
interface Month {
  /** As it ends the names of partitions, such as `2026_11`. */
  readonly name: string
  readonly from: Instant
  readonly until: Instant
}

const monthOf = (year: number, month: number): Month => {
  const from = Date.UTC(year, month)
  return { name: new Date(from).toISOString().slice(0, 7).replace("-", "_"), from, until: Date.UTC(year, month + 1) }
}

/** The month of an instant, and those that follow it. */
const monthsFrom = (now: Instant, following: number): ReadonlyArray<Month> => {
  const date = new Date(now)
  return Array.from({ length: following + 1 }, (_, i) => monthOf(date.getUTCFullYear(), date.getUTCMonth() + i))
}

const MONTH_SUFFIX = /_(\d{4})_(\d{2})$/

/** The month after which a partition is named; undefined for one that somebody else made. */
const monthNamed = (partition: string): Month | undefined => {
  const [, year, month] = MONTH_SUFFIX.exec(partition) ?? []
  return year === undefined ? undefined : monthOf(Number(year), Number(month) - 1)
}

/** The count that a statement returned as `n`. */
export const countOf = (answer: QueryResult | undefined): number =>
  (answer?.rows[0] as { readonly n: number } | undefined)?.n ?? 0

/** The condition that a statement returned as `is_true`. */
export const isTrue = (answer: QueryResult | undefined): boolean =>
  (answer?.rows[0] as { readonly is_true: boolean } | undefined)?.is_true === true

/** How many months ahead have their partitions. */
const MONTHS_AHEAD = 2

/** How many rows one statement moves or removes: few enough that nobody waits for it. */
const ROWS_PER_STATEMENT = 1_000

/** The tables that are partitioned, by which instant, and what must not go with its time. */
const partitioned = [
  {
    table: "event",
    by: "created_at",
    // A delivery sends its event's text, however long its webhook has been off.
    needed: "exists (select from workshop.delivery d where d.shop_id = e.shop_id and d.event_id = e.id)"
  },
  {
    table: "attempt",
    by: "started_at",
    // A replay goes on with the numbers of an event's attempts.
    needed: "exists (select from workshop.event v where v.shop_id = e.shop_id and v.id = e.event_id)"
  }
] as const

type Partitioned = (typeof partitioned)[number]

/** Beyond this size the default partition takes too long to look through, which attaching does under a lock. */
const MOST_REST_BYTES = 64 * 1024 * 1024

/** A lock that is not free soon is left for the next turn, because all others queue behind a session that waits for it. */
const SHORT_TIMEOUTS = [
  once("wait briefly", "set local lock_timeout = 200"),
  once("work briefly", "set local statement_timeout = 1000")
]

/** BRIN indexes answer bitmap scans only, which the statements of commands do without. */
export const ALLOW_BITMAP_SCANS = once("look by age", "set local enable_bitmapscan = on")

/** Our role may not call `keep_partition`; rows go to the default partition then, and leave one by one. */
const NO_RIGHT = "42501"
/** A row of that month came by default just then. */
const HAS_ROWS = ["23514"]
/** Citus changes schemas on its coordinator alone. */
const NOT_ON_COORDINATOR = "0A000"
const LATER = [NO_RIGHT, ...HAS_ROWS, NOT_ON_COORDINATOR, "55P03", "57014", "40P01"]

type Step = "exclude" | "validate" | "include" | "attach" | "detach" | "rescue" | "drop" | "remove"

const step = (step: Step, { table }: Partitioned, { name, from, until }: Month): Statement => ({
  name: "keep partition",
  text: "select workshop.keep_partition($1, $2, $3, $4, $5) as n",
  values: [step, table, name, from, until]
})

/** Does something to the schema in one transaction. False where it has to be left alone for now. */
const tryChange = (connection: Connection, ...statements: ReadonlyArray<Statement>) =>
  connection.send([BEGIN, ...statements, COMMIT]).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ code }) => code !== null && LATER.includes(code),
      () => Effect.as(connection.send([ROLLBACK]), false)
    )
  )

const tryBriefly = (connection: Connection, ...statements: ReadonlyArray<Statement>) =>
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

const listPartitions = (connection: Connection, { table }: Partitioned) =>
  Effect.map(
    connection.send([{ ...FIND, values: [table] }]),
    ([answer]) => answer!.rows as unknown as ReadonlyArray<Partition>
  )

/** Whether the default partition has rows of a month, which then gets no partition, and whether it is small. */
const readDefaultPartition = (connection: Connection, { table, by }: Partitioned, { from, until }: Month) =>
  Effect.map(
    connection.send([
      BEGIN,
      ALLOW_BITMAP_SCANS,
      {
        name: `rest of ${table}`,
        text: `select pg_relation_size('workshop.${table}_rest') < ${MOST_REST_BYTES} as is_small,
          exists (select from workshop.${table}_rest where ${by} >= $1 and ${by} < $2) as has_rows`,
        values: [from, until]
      },
      COMMIT
    ]),
    (answers) => answers[2]!.rows[0] as { readonly is_small: boolean; readonly has_rows: boolean }
  )

/**
 * Attaches the partition of a month that has not begun, without looking through the default partition under a lock: a constraint
 * says that it has none of that month's rows, and is validated while others write. It goes again, whatever comes of it, because it
 * would refuse rows of that month.
 */
const attachWithConstraint = (connection: Connection, one: Partitioned, month: Month) =>
  Effect.gen(function* () {
    if (!(yield* tryBriefly(connection, step("include", one, month), step("exclude", one, month)))) return false
    const attached =
      (yield* tryChange(connection, step("validate", one, month))) &&
      (yield* tryBriefly(connection, step("attach", one, month), step("include", one, month)))
    if (!attached) yield* tryChange(connection, step("include", one, month))
    return attached
  })

const makePartition = (connection: Connection, one: Partitioned, month: Month, now: Instant) =>
  Effect.gen(function* () {
    const { is_small, has_rows } = yield* readDefaultPartition(connection, one, month)
    if (has_rows) return false
    if (is_small) return yield* tryBriefly(connection, step("attach", one, month))
    return month.from > now && (yield* attachWithConstraint(connection, one, month))
  })

const repeatWhileFull = (
  connection: Connection,
  ...statements: ReadonlyArray<Statement>
): Effect.Effect<number, PgFailure> =>
  Effect.flatMap(connection.send([BEGIN, ...statements, COMMIT]), (answers) => {
    const n = countOf(answers.at(-2))
    return n < ROWS_PER_STATEMENT
      ? Effect.succeed(n)
      : Effect.map(repeatWhileFull(connection, ...statements), (more) => n + more)
  })

/** Detaches a partition and drops it. "Concurrently" is not to be had beside a default partition; this way is as short. */
const dropPartition = (connection: Connection, one: Partitioned, { is_attached }: Partition, month: Month) =>
  Effect.gen(function* () {
    if (is_attached && !(yield* tryBriefly(connection, step("detach", one, month)))) return false
    yield* repeatWhileFull(connection, step("rescue", one, month))
    return yield* tryBriefly(connection, step("drop", one, month))
  })

/** Which month it is does not matter to the step that removes rows by their age. */
const ANY_MONTH = "0000_00"

/** Rows that came before their partition was there, or where there never was one. A role that may not call the function may delete. */
const removeFromDefault = (connection: Connection, one: Partitioned, before: Instant) =>
  repeatWhileFull(
    connection,
    ALLOW_BITMAP_SCANS,
    step("remove", one, { name: ANY_MONTH, from: 0, until: before })
  ).pipe(
    Effect.catchIf(
      ({ code }) => code === NO_RIGHT,
      () => Effect.zipRight(connection.send([ROLLBACK]), deleteFromDefault(connection, one, before))
    )
  )

const deleteFromDefault = (connection: Connection, { table, by, needed }: Partitioned, before: Instant) =>
  repeatWhileFull(connection, ALLOW_BITMAP_SCANS, {
    name: `remove old ${table}`,
    text: `with gone as (
        delete from workshop.${table}_rest where ctid = any (array(
          select e.ctid from workshop.${table}_rest e where e.${by} < $1 and not ${needed} limit ${ROWS_PER_STATEMENT}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  })

/** The partitions that were made and dropped. */
export interface Partitioning {
  readonly made: ReadonlyArray<string>
  /** Of the months ahead, those that have no partition: their rows will go to the default partition, and leave it one by one. */
  readonly missing: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
  /** How many rows were removed one by one. */
  readonly removed: number
}

/** Makes the partitions of this month and the next ones, and removes what is wholly older than `before`. */
export const keepPartitions = (
  connection: Connection,
  now: Instant,
  before: Instant
): Effect.Effect<Partitioning, PgFailure> =>
  Effect.gen(function* () {
    const made: Array<string> = []
    const missing: Array<string> = []
    const dropped: Array<string> = []
    const left = new Set<string>()
    let removed = 0
    for (const one of partitioned) {
      const there = yield* listPartitions(connection, one)
      const isAttached = (name: string) => there.some((found) => found.name === name && found.is_attached)
      for (const month of monthsFrom(now, MONTHS_AHEAD)) {
        const name = `${one.table}_${month.name}`
        if (isAttached(name)) continue
        if (yield* makePartition(connection, one, month, now)) made.push(name)
        else if (month.from > now) missing.push(name)
      }
      for (const partition of there) {
        const month = monthNamed(partition.name)
        if (month === undefined || month.until > before) continue
        // Attempts go after their events, because a replay goes on with their numbers.
        if (left.has(month.name)) continue
        if (yield* dropPartition(connection, one, partition, month)) dropped.push(partition.name)
        else left.add(month.name)
      }
      removed += yield* removeFromDefault(connection, one, before)
    }
    return { made, missing, dropped, removed }
  })
