import * as SqlClient from "@effect/sql/SqlClient"
import { Probes, probe } from "@workshop/core"
import { Clock, Effect, Metric } from "effect"
import { aheadBy } from "./ClockGuard.js"
import { checkOn } from "./migrate/Migrator.js"
import { query, type Session } from "./migrate/Session.js"
import { expiredCommands, type Gauges, gaugesOf } from "./PgMetrics.js"

/** By how much the clocks of a process and of its database may differ, in milliseconds: leases and keys go by both. */
const MOST_APART_MS = 1_000

/** How often the database is asked at most, however often somebody looks, in real time. */
const LOOK = "5 seconds"

/** How many due deliveries are counted at most, over all shops, so that a long queue costs no more to look at. */
const MOST_COUNTED = 2_000

/** Among how many shops the delivery that waits longest is looked for: those whose turns are next. */
const MOST_SHOPS = 200

interface Seen {
  readonly due: number
  readonly oldest_due_at: number | null
  readonly webhooks_off: number
  readonly snapshot: number
  readonly xid_age: number
}

/** What is due of a shop `s`, at most so much of each kind: live, replayed, and released as the webhook was turned on again. */
const dueOf = (sql: SqlClient.SqlClient, now: number, most: number) => {
  const waiting = sql`from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null`
  const inTime = (is_replay: boolean) =>
    sql`(select d.due_at ${waiting} and d.is_replay = ${sql.literal(String(is_replay))} and d.generation = s.generation
      and d.due_at <= ${now} order by d.due_at limit ${most})`
  const released = (is_replay: boolean) =>
    sql`(select s.released_at as due_at ${waiting} and d.is_replay = ${sql.literal(String(is_replay))}
      and d.generation < s.generation limit ${most})`
  return sql`${inTime(false)} union all ${inTime(true)} union all ${released(false)} union all ${released(true)}`
}

const seen = (sql: SqlClient.SqlClient, now: number) => sql<Seen>`
  with /* workshop look at queue */ shops as (
    select t.shop_id, w.generation, w.released_at from workshop.delivery_turn t
    join workshop.webhook w on w.shop_id = t.shop_id and w.off_reason is null
    where t.look_at <= ${now} order by t.look_at, t.turn limit ${MOST_SHOPS}
  ), due as (
    select d.due_at from shops s cross join lateral (${dueOf(sql, now, MOST_COUNTED)}) d limit ${MOST_COUNTED}
  ), oldest as (
    select min(d.due_at) as due_at from shops s cross join lateral (${dueOf(sql, now, 1)}) d
  )
  select (select count(*)::integer from due) as due,
    (select due_at::double precision from oldest) as oldest_due_at,
    (select count(*)::integer from workshop.webhook where off_reason is not null) as webhooks_off,
    (select coalesce(max(age(backend_xmin)), 0) from pg_stat_activity where pid <> pg_backend_pid()) as snapshot,
    (select max(age(datfrozenxid)) from pg_database) as xid_age`

const databaseTime = (sql: SqlClient.SqlClient) =>
  sql<{
    readonly ms: number
  }>`select /* workshop look at clock */ (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`

/** By how many milliseconds the database's clock is ahead, as far as that can be told: the way there and back is not held against it. */
const ahead = (sql: SqlClient.SqlClient, clock: Clock.Clock) =>
  Effect.gen(function* () {
    const asked = clock.unsafeCurrentTimeMillis()
    const [row] = yield* databaseTime(sql)
    const answered = clock.unsafeCurrentTimeMillis()
    return -aheadBy({ asked, answered }, row!.ms)
  })

const showSeen = (sql: SqlClient.SqlClient, clock: Clock.Clock, database: Gauges) =>
  Effect.gen(function* () {
    const now = clock.unsafeCurrentTimeMillis()
    const [found] = yield* seen(sql, now)
    const { due, oldest_due_at, webhooks_off, snapshot, xid_age } = found!
    yield* Metric.set(database.due, due)
    yield* Metric.set(database.oldest_due_s, oldest_due_at === null ? 0 : Math.max(0, now - oldest_due_at) / 1000)
    yield* Metric.set(database.webhooks_off, webhooks_off)
    yield* Metric.set(database.snapshot, snapshot)
    yield* Metric.set(database.xid_age, xid_age)
  }).pipe(
    // What is not known must not look as if it were.
    Effect.catchAll(() =>
      Effect.forEach(Object.values(database), (gauge) => Metric.set(gauge, Number.NaN), { discard: true })
    )
  )

/** A session for looks at the schema, on the connections for reads: none of its own, which might hang apart from them. */
export const sessionOf = (sql: SqlClient.SqlClient): Session => ({
  run: <Row>(text: string, values?: ReadonlyArray<unknown>) =>
    Effect.mapError(sql.unsafe<Row & object>(text, values), ({ cause }) => query(cause)) as never
})

/** Says once that the schema is not the program's: writes would leave out what an older one has no column for. */
const schemaSaid = (sql: SqlClient.SqlClient, schema: string) =>
  checkOn(sessionOf(sql), schema).pipe(
    // A database that does not answer is said to be away by whoever asks it for more than this.
    Effect.catchAll((refused) => (refused._tag === "DatabaseFailed" ? Effect.void : Effect.logError(refused.message))),
    Effect.disconnect
  )

/** What the operator sees of the database; where nobody looks, the log tells of a wrong schema. `real` is this machine's clock: a sandbox's may stand. */
export const pgProbe = (schema: string, cell?: string, real: Clock.Clock = Clock.make()) =>
  Effect.gen(function* () {
    const database = gaugesOf(cell)
    const sql = yield* SqlClient.SqlClient
    if ((yield* Probes) === null) return yield* Effect.asVoid(Effect.forkScoped(schemaSaid(sql, schema)))
    const clock = yield* Effect.clock
    // A rate needs a beginning.
    yield* Metric.incrementBy(expiredCommands, 0)

    const offset = Effect.tap(ahead(sql, real), (ms) => Metric.set(database.clock_s, ms / 1000))
    const complaint = yield* Effect.cachedWithTTL(
      checkOn(sessionOf(sql), schema).pipe(
        Effect.as(null),
        // A database that does not answer is said to be away by whoever asks it for more than this.
        Effect.catchAll((refused) => Effect.succeed(refused._tag === "DatabaseFailed" ? null : refused.message))
      ),
      LOOK
    )
    const clocks = Effect.map(offset, (ms) =>
      Math.abs(ms) > MOST_APART_MS
        ? `The clock of this machine is ${Math.abs(Math.round(ms)) / 1000} seconds ${ms > 0 ? "behind" : "ahead of"} its database's: set both by the same time server.`
        : null
    ).pipe(Effect.catchAll(() => Effect.succeed("The database does not answer.")))

    const shown = Effect.zipRight(
      showSeen(sql, clock, database),
      Effect.catchAll(offset, () => Metric.set(database.clock_s, Number.NaN))
    )
    yield* probe({
      measure: yield* Effect.cachedWithTTL(Effect.asVoid(shown), LOOK),
      complaint: Effect.withClock(
        Effect.flatMap(complaint, (found) => (found === null ? clocks : Effect.succeed(found))),
        Clock.make()
      )
    })
  })
