import { Dispatcher, WebhookSender } from "@workshop/core"
import { Deliveries } from "@workshop/core/store"
import { Effect, Layer } from "effect"
import pg from "pg"
import { statusResult } from "../../../packages/core/dist/testing/TestDispatcher.js"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { BenchClock, createNext, creators, storeLayer } from "../create/Workload.js"
import { openFilled } from "../growth/Queue.js"
import { median } from "../Median.js"
import { medianTime } from "../medianTime.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"

/**
 * The number of acts before the measurement. During them the process compiles its code, and an act takes about twice as
 * long.
 */
const WARM_UP = 3_000
const CREATES = 1_000
const CLAIMS = 500
const DELIVERIES = 10_000

/**
 * A statement that is sent less often than once in this number of acts is left out, because it does not belong to them.
 */
const SELDOM = 500

interface Statement {
  /** The name in the statement's text, such as `lock heads`. */
  readonly name: string
  readonly calls: number
  /** The time in which the server planned and executed all calls, in milliseconds. */
  readonly took_ms: number
}

const STATEMENTS = `select name, sum(calls)::double precision as calls, sum(total_exec_time + total_plan_time) as took_ms
  from (select s.*, coalesce(substring(query from '/\\* workshop (.*?) \\*/'), lower(query)) as name from pg_stat_statements s
    where s.dbid = (select oid from pg_database where datname = current_database())) s
  where name not like '%pg_stat_statements%' group by name order by took_ms desc`

/** The driver's method, as the store's connections call it. */
type Query = (
  this: pg.Client,
  statement: { readonly name: string },
  callback: (error: Error | null, result: pg.QueryResult) => void
) => void

/** Runs work, and returns the durations of its round trips by the names of their statements. */
const roundTrips = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const durations = new Map<string, Array<number>>()
    const query = pg.Client.prototype.query as unknown as Query
    /** The statements that the process is sending together. */
    let sending: { readonly begun: number; readonly names: Array<string>; left: number } | undefined
    const recordedQuery: Query = function (this, statement, callback) {
      if (sending === undefined) {
        sending = { begun: performance.now(), names: [], left: 0 }
        queueMicrotask(() => {
          sending = undefined
        })
      }
      const trip = sending
      trip.names.push(statement.name)
      trip.left++
      query.call(this, statement, (error, result) => {
        callback(error, result)
        if (--trip.left > 0) return
        const names = trip.names.join(", ")
        durations.set(names, [...(durations.get(names) ?? []), performance.now() - trip.begun])
      })
    }
    pg.Client.prototype.query = recordedQuery as unknown as pg.Client["query"]
    const result = yield* Effect.ensuring(
      work,
      Effect.sync(() => {
        pg.Client.prototype.query = query as unknown as pg.Client["query"]
      })
    )
    return { result, durations }
  })

const row = (work: string, unit: Row["unit"], ours: number): Row => ({ work, unit, ours: roundTo(ours, 3) })

/** Measures the costs of acts: round trips, each statement in the server, and this process. */
const split = <E, R>(session: Session, act: string, acts: number, work: Effect.Effect<number, E, R>) =>
  Effect.gen(function* () {
    yield* session.run("select pg_stat_statements_reset()")
    const before = process.cpuUsage()
    const { result: p50_ms, durations } = yield* roundTrips(work)
    const { user, system } = process.cpuUsage(before)
    const statements = yield* session.run<Statement>(STATEMENTS)
    const shown = statements.filter(({ calls }) => calls >= acts / SELDOM)
    const trips = [...durations].filter(([, all]) => all.length >= acts / 20)
    return [
      row(`${act}, p50`, "ms", p50_ms),
      row(`${act}: round trips`, "", [...durations.values()].reduce((sum, all) => sum + all.length, 0) / acts),
      ...(p50_ms < 10 ? trips.map(([names, all]) => row(`${act}: the round trip of ${names}`, "ms", median(all))) : []),
      ...shown.map(({ name, took_ms }) => row(`${act}: ${name}, in the server`, "ms", took_ms / acts)),
      row(`${act}: CPU time of this process`, "ms", (user + system) / 1_000 / acts)
    ]
  })

const idleCreate = (url: string) =>
  Effect.gen(function* () {
    const clock = new BenchClock()
    const context = yield* Layer.build(storeLayer(url, clock))
    const session = yield* openMigrationSession(url)
    yield* session.run("create extension pg_stat_statements")
    yield* session.run("create table empty_commit (n integer)")
    return yield* Effect.gen(function* () {
      const create = yield* createNext(yield* creators, clock)
      yield* medianTime(WARM_UP, create)
      const nothing = yield* medianTime(CREATES, session.run("select 1"))
      const commit = yield* medianTime(CREATES, session.run("insert into empty_commit values ($1)", [1]))
      return [
        row("a round trip of select 1, p50", "ms", nothing),
        row("a commit of one row, p50", "ms", commit),
        ...(yield* split(session, "one create on an idle Postgres", CREATES, medianTime(CREATES, create)))
      ]
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  })

const claimsOfOne = (url: string) =>
  Effect.gen(function* () {
    const shops = { shops: 2_001, waiting: 2_000, each: 10 }
    const { clock, context, session } = yield* openFilled(url, shops)
    yield* session.run("create extension pg_stat_statements")
    return yield* Effect.gen(function* () {
      const { claim } = yield* Deliveries
      const one = Effect.suspend(() => claim(clock.unsafeCurrentTimeMillis(), 1))
      yield* medianTime(WARM_UP, one)
      return yield* split(session, "a claim of one", CLAIMS, medianTime(CLAIMS, one))
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  })

const delivered = (url: string) =>
  Effect.gen(function* () {
    const { clock, context, session } = yield* openFilled(url, {
      shops: 500,
      waiting: 500,
      each: (2 * DELIVERIES) / 500
    })
    yield* session.run("create extension pg_stat_statements")
    let sent = 0
    let [half, end] = [0, 0]
    let reached: (() => void) | undefined
    const send = () =>
      Effect.sync(() => {
        sent++
        if (sent === DELIVERIES) half = performance.now()
        if (sent === 2 * DELIVERIES) end = performance.now()
        if (sent === DELIVERIES || sent === 2 * DELIVERIES) reached?.()
        return statusResult(200)
      })
    const dispatcher = Dispatcher.layer().pipe(Layer.provide(Layer.succeed(WebhookSender, { send })))
    const until = Effect.async<void>((resume) => {
      reached = () => resume(Effect.void)
    })
    return yield* Effect.gen(function* () {
      yield* Effect.forkScoped((yield* Dispatcher).run)
      yield* until
      return yield* split(
        session,
        "one of many deliveries",
        DELIVERIES,
        Effect.map(until, () => (end - half) / DELIVERIES)
      )
    }).pipe(Effect.provide(Layer.provideMerge(dispatcher, Layer.succeedContext(context))), Effect.withClock(clock))
  })

/**
 * Shows the parts of the time of a create, a claim and a delivery on Postgres: round trips, statements in the server,
 * this process.
 */
export const statements = benchmark({
  about: "where the time of a create, a claim and a delivery on Postgres goes, statement by statement",
  options: {},
  args: { usual: [], quick: [] },
  missing: () =>
    process.env.DATABASE_URL === undefined
      ? null
      : "It needs pg_stat_statements from the start of its server, and starts one of its own: unset DATABASE_URL.",
  run: async () => {
    const all = Effect.gen(function* () {
      const { database } = yield* cluster({
        shared_preload_libraries: "pg_stat_statements",
        "pg_stat_statements.track_planning": "on"
      })
      return [
        ...(yield* idleCreate(yield* database("statements_create"))),
        ...(yield* claimsOfOne(yield* database("statements_claim"))),
        ...(yield* delivered(yield* database("statements_deliver")))
      ]
    })
    return { rows: await Effect.runPromise(Effect.scoped(all)) }
  }
})
