import type { Instant } from "@workshop/core/domain/Instant"
import { Effect } from "effect"
import { BEGIN, COMMIT, type Connection, ROLLBACK, type Statement } from "../Connection.js"
import type { PgFailure } from "../PgFailure.js"
import { countOf, isTrue } from "./answers.js"
import { type Month, monthNamed, monthsFrom } from "./Month.js"

/** How many months ahead have their partitions. */
const AHEAD = 2

/** How many rows one statement moves or removes: few enough that nobody waits for it. */
const AT_ONCE = 1_000

/** The tables that are partitioned, by which instant, and what must not go with its time. */
const partitioned = [
  {
    table: "event",
    by: "created_at",
    // A delivery sends its event's text, however long its webhook has been off.
    needed: "exists (select from delivery d where d.shop_id = e.shop_id and d.event_id = e.id)"
  },
  { table: "attempt", by: "started_at", needed: "false" }
] as const

type Partitioned = (typeof partitioned)[number]

const plain = (text: string): Statement => ({ name: "", text, values: [] })

/** Beyond this size the default partition would take too long to look through, which attaching does under a lock. */
const MOST_REST_BYTES = 64 * 1024 * 1024

/** A lock that is not had soon is left for the next time: everybody would queue behind whoever waits for it. */
const BRIEFLY = [plain("set local lock_timeout = 200"), plain("set local statement_timeout = 1000")]

/** Our role may not change the schema; rows arrive by default then, and leave one by one. */
const NO_RIGHT = "42501"
/** A row of that month came by default just then. */
const TAKEN = ["23514"]
const LEFT_ALONE = [NO_RIGHT, ...TAKEN, "55P03", "57014", "40P01"]

/** Does something to the schema in one short transaction. False where it has to be left alone for now. */
const briefly = (connection: Connection, ...statements: ReadonlyArray<Statement>) =>
  connection.send([BEGIN, ...BRIEFLY, ...statements, COMMIT]).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ code }) => code !== null && LEFT_ALONE.includes(code),
      () => Effect.as(connection.send([ROLLBACK]), false)
    )
  )

interface Found {
  readonly name: string
  readonly is_attached: boolean
}

const FIND: Omit<Statement, "values"> = {
  name: "find partitions",
  text: `select c.relname as name, c.relispartition as is_attached from pg_class c
    where c.relnamespace = (select relnamespace from pg_class where oid = $1::regclass)
      and c.relkind = 'r' and c.relname ~ ('^' || $1 || '_[0-9]{4}_[0-9]{2}$') order by 1`
}

const found = (connection: Connection, { table }: Partitioned) =>
  Effect.map(
    connection.send([{ ...FIND, values: [table] }]),
    ([answer]) => answer!.rows as unknown as ReadonlyArray<Found>
  )

/** Whether rows of a month may get a partition of their own: none of them came by default already. */
const isFree = (connection: Connection, { table, by }: Partitioned, { from, until }: Month) =>
  Effect.map(
    connection.send([
      {
        name: `is ${table} free`,
        text: `select pg_relation_size('${table}_rest') < ${MOST_REST_BYTES}
          and not exists (select from ${table}_rest where ${by} >= $1 and ${by} < $2) as is_true`,
        values: [from, until]
      }
    ]),
    ([answer]) => isTrue(answer)
  )

const make = (connection: Connection, one: Partitioned, month: Month) => {
  const { table } = one
  const { name, from, until } = month
  const made = briefly(
    connection,
    // Made apart and attached, the table as a whole stays free meanwhile.
    plain(`create table ${table}_${name} (like ${table} including all)`),
    plain(`alter table ${table} attach partition ${table}_${name} for values from (${from}) to (${until})`)
  )
  return Effect.flatMap(isFree(connection, one, month), (may) => (may ? made : Effect.succeed(false)))
}

const times = (connection: Connection, statement: Statement): Effect.Effect<number, PgFailure> =>
  Effect.flatMap(connection.send([statement]), ([answer]) => {
    const n = countOf(answer)
    return n < AT_ONCE ? Effect.succeed(n) : Effect.map(times(connection, statement), (more) => n + more)
  })

/** What is still needed moves to the default partition, a little at a time. From a detached one nothing new can be asked for. */
const rescue = (connection: Connection, { table, needed }: Partitioned, name: string) =>
  times(
    connection,
    plain(`with taken as (
        delete from ${name} where ctid = any (array(select e.ctid from ${name} e where ${needed} limit ${AT_ONCE}))
        returning *
      ), moved as (insert into ${table} select * from taken on conflict do nothing returning 1)
      select count(*)::integer as n from taken`)
  )

/** Detaches a partition and drops it. "Concurrently" is not to be had beside a default partition; this way is as short. */
const drop = (connection: Connection, one: Partitioned, { name, is_attached }: Found) =>
  Effect.gen(function* () {
    if (is_attached && !(yield* briefly(connection, plain(`alter table ${one.table} detach partition ${name}`))))
      return false
    yield* rescue(connection, one, name)
    return yield* briefly(connection, plain(`drop table ${name}`))
  })

/** Rows that came before their partition was there, or where there never was one. */
const removeRest = (connection: Connection, { table, by, needed }: Partitioned, before: Instant) =>
  times(connection, {
    name: `remove old ${table}`,
    text: `with gone as (
        delete from ${table}_rest where ctid = any (array(
          select e.ctid from ${table}_rest e where e.${by} < $1 and not ${needed} limit ${AT_ONCE}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  })

/** What was done to the partitions. */
export interface Partitioning {
  readonly made: ReadonlyArray<string>
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
    const dropped: Array<string> = []
    let removed = 0
    for (const one of partitioned) {
      const there = yield* found(connection, one)
      for (const month of monthsFrom(now, AHEAD)) {
        const name = `${one.table}_${month.name}`
        if (!there.some((partition) => partition.name === name) && (yield* make(connection, one, month)))
          made.push(name)
      }
      for (const partition of there) {
        const month = monthNamed(partition.name)
        const isOld = month !== undefined && month.until <= before
        if (isOld && (yield* drop(connection, one, partition))) dropped.push(partition.name)
      }
      removed += yield* removeRest(connection, one, before)
    }
    return { made, dropped, removed }
  })
