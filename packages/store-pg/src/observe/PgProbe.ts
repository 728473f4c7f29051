import * as SqlClient from "@effect/sql/SqlClient"
import { Probes, probe } from "@workshop/core"
import { poolsExhausted } from "@workshop/core/internal"
import type { NotificationReceiver } from "@workshop/core/store"
import { Clock, Effect, flow, identity, Metric } from "effect"
import { IS_WAITING, LONG_WAIT_MS, WAITS_FOR_STANDBY } from "../connection/CommitWaits.js"
import { READS_ONLY } from "../connection/SessionClient.js"
import { isReleased, isWebhookOn, releasedAt } from "../deliveries/webhookConditions.js"
import { checkNamed, checkOn } from "../migrate/Migrator.js"
import { type Session, statementFailure } from "../migrate/Session.js"
import { clockOffset } from "./ClockGuard.js"
import { expiredCommands, type Gauges, gaugesOf } from "./PgMetrics.js"

/**
 * The largest difference, in milliseconds, between the clocks of a ready process and its database. Leases and keys
 * depend on both clocks.
 */
const MAX_CLOCK_OFFSET_MS = 1_000

/** The shortest interval, in real time, between queries of the database, even if a probe is read more often. */
const QUERY_INTERVAL = "5 seconds"

/**
 * The time limit of a cell's probe. A cell that does not respond in time has no complaint, because only its own shops
 * are unavailable.
 */
const SILENT = {
  duration: "1 second",
  onSuccess: (complaint: string | null) => complaint,
  onTimeout: () => null
} as const

/**
 * The most due deliveries, and due notifications per kind of receiver, that are counted over all shops, so that a long
 * queue costs no more.
 */
const MAX_COUNTED = 2_000

/** The maximum number of shops to search for the longest-waiting delivery, beginning with the shops that are served next. */
const MAX_SHOPS = 200

interface Queue {
  readonly due: number
  readonly oldest_due_at: number | null
  readonly webhooks_off: number
}

interface Server {
  readonly snapshot: number
  readonly xid_age: number
}

/** The due deliveries of a shop `s`, with a limit for each kind: live, replayed, and released when the webhook was turned on again. */
const dueOf = (sql: SqlClient.SqlClient, now: number, max: number) => {
  const waiting = sql`from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null`
  const dueOfKind = (is_replay: boolean) =>
    sql`(select d.due_at ${waiting} and d.is_replay = ${sql.literal(String(is_replay))} and d.generation = s.generation
      and d.due_at <= ${now} order by d.due_at limit ${max})`
  const releasedOfKind = (is_replay: boolean) =>
    sql`(select ${sql.literal(releasedAt("s"))} as due_at ${waiting} and d.is_replay = ${sql.literal(String(is_replay))}
      and ${sql.literal(isReleased("d", "s"))} limit ${max})`
  return sql`${dueOfKind(false)} union all ${dueOfKind(true)} union all ${releasedOfKind(false)} union all ${releasedOfKind(true)}`
}

const queueOf = (sql: SqlClient.SqlClient, now: number) => sql<Queue>`
  with /* workshop look at queue */ shops as (
    select t.shop_id, w.generation, w.enabled_at from workshop.delivery_queue t
    join workshop.webhook w on w.shop_id = t.shop_id and ${sql.literal(isWebhookOn("w"))}
    where t.next_claim_at <= ${now} order by t.next_claim_at, t.turn limit ${MAX_SHOPS}
  ), due as (
    select d.due_at from shops s cross join lateral (${dueOf(sql, now, MAX_COUNTED)}) d limit ${MAX_COUNTED}
  ), oldest as (
    select min(d.due_at) as due_at from shops s cross join lateral (${dueOf(sql, now, 1)}) d
  )
  select (select count(*)::integer from due) as due,
    (select due_at::double precision from oldest) as oldest_due_at,
    (select count(*)::integer from workshop.webhook w where not (${sql.literal(isWebhookOn("w"))})) as webhooks_off`

interface Notifications {
  readonly client: number
  readonly client_due_at: number | null
  readonly owner: number
  readonly owner_due_at: number | null
}

/** Counts the due notifications per kind of receiver, with the same index as the sender's query. */
const notificationsOf = (sql: SqlClient.SqlClient, now: number) => {
  const dueTo = (receiver: NotificationReceiver) => sql`select m.due_at from workshop.queued_notification m
    where m.receiver = ${receiver} and m.due_at <= ${now} order by m.due_at limit ${MAX_COUNTED}`
  return sql<Notifications>`
    with /* workshop look at notifications */ client as (${dueTo("client")}), owner as (${dueTo("owner")})
    select (select count(*)::integer from client) as client,
      (select min(due_at)::double precision from client) as client_due_at,
      (select count(*)::integer from owner) as owner,
      (select min(due_at)::double precision from owner) as owner_due_at`
}

/**
 * Reads the server's state. Separate from {@link queueOf}, because on Citus only a superuser may read these views and a
 * cell's tables in one statement.
 */
const serverOf = (sql: SqlClient.SqlClient) => sql<Server>`
  select /* workshop look at snapshots */
    (select coalesce(max(age(held.xid)), 0) from (
      select backend_xmin as xid from pg_stat_activity where pid <> pg_backend_pid()
      union all select xmin from pg_replication_slots
      union all select transaction from pg_prepared_xacts
    ) held) as snapshot,
    (select max(age(datfrozenxid)) from pg_database) as xid_age`

const databaseTime = (sql: SqlClient.SqlClient) =>
  sql<{
    readonly ms: number
  }>`select /* workshop look at clock */ (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`

/**
 * Reads whether the server accepts no commits although it responds, because it is read-only or commits wait for a
 * standby.
 */
const readRefusedCommits = (sql: SqlClient.SqlClient) =>
  sql<{ readonly only_reads: boolean; readonly waits: boolean }>`select /* workshop look at commits */
    pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as only_reads,
    exists (select from pg_stat_activity where ${sql.literal(IS_WAITING)}
      and query_start < clock_timestamp() - ${LONG_WAIT_MS} * interval '1 millisecond') as waits`

/** Returns the first complaint. Each check runs only if the previous checks had no complaint. */
const firstOf = <R>(...probes: ReadonlyArray<Effect.Effect<string | null, never, R>>) =>
  probes.reduce((before, next) =>
    Effect.flatMap(before, (complaint) => (complaint === null ? next : Effect.succeed(complaint)))
  )

/** The number of milliseconds by which the database's clock is ahead, without the query's round trip. */
const aheadMessage = (sql: SqlClient.SqlClient, clock: Clock.Clock) =>
  Effect.gen(function* () {
    const readBefore = clock.unsafeCurrentTimeMillis()
    const [row] = yield* databaseTime(sql)
    const readAfter = clock.unsafeCurrentTimeMillis()
    return -clockOffset({ readBefore, readAfter }, row!.ms)
  })

/** Sets gauges to NaN, because an unknown value must not look like a known one. */
const setUnknown = (...gauges: ReadonlyArray<Gauges[keyof Gauges]>) =>
  Effect.forEach(gauges, (gauge) => Metric.set(gauge, Number.NaN), { discard: true })

/** The seconds since `due_at`; 0 if it is null. */
const waited_s = (due_at: number | null, now: number): number =>
  due_at === null ? 0 : Math.max(0, now - due_at) / 1000

const showQueue = (sql: SqlClient.SqlClient, clock: Clock.Clock, { due, oldest_due_s, webhooks_off }: Gauges) =>
  Effect.gen(function* () {
    const now = clock.unsafeCurrentTimeMillis()
    const [row] = yield* queueOf(sql, now)
    yield* Metric.set(due, row!.due)
    yield* Metric.set(oldest_due_s, waited_s(row!.oldest_due_at, now))
    yield* Metric.set(webhooks_off, row!.webhooks_off)
  }).pipe(Effect.catchAll(() => setUnknown(due, oldest_due_s, webhooks_off)))

const showNotifications = (
  sql: SqlClient.SqlClient,
  clock: Clock.Clock,
  { client_due, client_oldest_due_s, owner_due, owner_oldest_due_s }: Gauges
) =>
  Effect.gen(function* () {
    const now = clock.unsafeCurrentTimeMillis()
    const [row] = yield* notificationsOf(sql, now)
    const { client, client_due_at, owner, owner_due_at } = row!
    yield* Metric.set(client_due, client)
    yield* Metric.set(client_oldest_due_s, waited_s(client_due_at, now))
    yield* Metric.set(owner_due, owner)
    yield* Metric.set(owner_oldest_due_s, waited_s(owner_due_at, now))
  }).pipe(Effect.catchAll(() => setUnknown(client_due, client_oldest_due_s, owner_due, owner_oldest_due_s)))

const showServer = (sql: SqlClient.SqlClient, { snapshot, xid_age }: Gauges) =>
  Effect.gen(function* () {
    const [row] = yield* serverOf(sql)
    yield* Metric.set(snapshot, row!.snapshot)
    yield* Metric.set(xid_age, row!.xid_age)
  }).pipe(Effect.catchAll(() => setUnknown(snapshot, xid_age)))

/**
 * A session for schema checks on the connections for reads, because a separate connection could fail independently of
 * them.
 */
export const sessionOf = (sql: SqlClient.SqlClient): Session => ({
  run: <Row>(text: string, values?: ReadonlyArray<unknown>) =>
    Effect.mapError(sql.unsafe<Row & object>(text, values), ({ cause }) => statementFailure(cause)) as never
})

/** Logs once if the schema's version is not the program's, because an older program would not write newer columns. */
const logWrongSchema = (sql: SqlClient.SqlClient, schema: string) =>
  checkNamed(sessionOf(sql), schema).pipe(
    // Ignores a database that does not respond, because the store's calls report that.
    Effect.catchAll((refused) => (refused._tag === "DatabaseFailed" ? Effect.void : Effect.logError(refused.message))),
    Effect.disconnect
  )

/**
 * Registers probes that report the state of the database. Without probes, it only logs a wrong schema. `real` is this
 * machine's clock, because a sandbox's clock may be frozen.
 */
export const pgProbe = (schema: string, cell?: string, real: Clock.Clock = Clock.make()) =>
  Effect.gen(function* () {
    const database = gaugesOf(cell)
    const sql = yield* SqlClient.SqlClient
    if ((yield* Probes) === null) return yield* Effect.asVoid(Effect.forkScoped(logWrongSchema(sql, schema)))
    const clock = yield* Effect.clock
    // Exports the counters as zero at the start, because a rate needs an initial value.
    for (const counter of [expiredCommands, ...Object.values(poolsExhausted)]) yield* Metric.incrementBy(counter, 0)

    const offset = Effect.tap(aheadMessage(sql, real), (ms) => Metric.set(database.clock_s, ms / 1000))
    const complaint = yield* Effect.cachedWithTTL(
      (cell === undefined ? checkNamed : checkOn)(sessionOf(sql), schema).pipe(
        Effect.as(null),
        // If the database does not respond, the caller reports it. If a cell has an older schema, only its shops are
        // unavailable.
        Effect.catchAll((refused) =>
          Effect.succeed(
            refused._tag === "DatabaseFailed" || (refused._tag === "SchemaBehind" && cell !== undefined)
              ? null
              : refused.message
          )
        )
      ),
      QUERY_INTERVAL
    )
    const clocks = Effect.map(offset, (ms) =>
      Math.abs(ms) > MAX_CLOCK_OFFSET_MS
        ? `The clock of this machine is ${Math.abs(Math.round(ms)) / 1000} seconds ${ms > 0 ? "behind" : "ahead of"} the database's clock. Set both clocks by the same time server.`
        : null
    ).pipe(
      // If a cell does not respond, only its own shops are unavailable.
      Effect.catchAll(() => Effect.succeed(cell === undefined ? "The database does not respond." : null))
    )

    const writes = Effect.map(readRefusedCommits(sql), ([row]) => {
      if (row?.only_reads === true) return READS_ONLY
      return row?.waits === true ? WAITS_FOR_STANDBY : null
    }).pipe(
      // A failure is ignored, because the comparison of the clocks reports it.
      Effect.catchAll(() => Effect.succeed(null))
    )

    const shown = Effect.all([
      showQueue(sql, clock, database),
      showNotifications(sql, clock, database),
      showServer(sql, database),
      Effect.catchAll(offset, () => setUnknown(database.clock_s))
    ])
    yield* probe({
      measure: yield* Effect.cachedWithTTL(Effect.asVoid(shown), QUERY_INTERVAL),
      complaint: firstOf(complaint, clocks, writes).pipe(
        // A cell that does not respond in time has no complaint either.
        cell === undefined ? identity : flow(Effect.disconnect, Effect.timeoutTo(SILENT)),
        Effect.withClock(Clock.make())
      )
    })
  })
