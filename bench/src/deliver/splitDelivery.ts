import { Effect } from "effect"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { serversCpu } from "../cells/ServerCpu.js"
import { median } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { Child } from "./Child.js"
import { type Deliver, type DeliveryResult, type Raise, SHOPS } from "./Job.js"

const EVENTS = 200
const DELIVERIES = EVENTS * SHOPS
const WARM_UP_RUNS = 2

/**
 * A statement that is sent less often than once in this number of deliveries is left out, because it does not belong to
 * them.
 */
const SELDOM = 1_000

interface Statement {
  readonly name: string
  readonly calls: number
  readonly us: number
}

/** Names each statement by our comment in it or, for the library's statements, by its first words. */
const STATEMENTS = `select name, sum(calls)::double precision as calls, 1000 * sum(total_exec_time + total_plan_time) as us
  from (select s.*, coalesce(substring(query from '/\\* workshop (.*?) \\*/'), left(regexp_replace(lower(query), '\\s+', ' ', 'g'), 60)) as name
    from pg_stat_statements s where s.dbid = (select oid from pg_database where datname = current_database())) s
  where query not like '%pg_stat_statements%' and query not like '%pg_current_wal%' group by name order by us desc`

/** Resets the statistics of this database's statements. */
const FORGET = "select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()), 0)"

/** The cost of one delivery: microseconds of processor time, and bytes of WAL. */
interface Costs {
  readonly process: number
  /** The processor time of the threads other than the main one. */
  readonly threads: number
  readonly servers: number
  readonly wal: number
}

/** The program of one side, and a session of its database. */
interface Side {
  readonly child: Child<object>
  readonly session: Session
}

const PLACE = "select pg_current_wal_insert_lsn()::text as lsn"
const WRITTEN = "select (pg_current_wal_insert_lsn() - $1::pg_lsn)::double precision as bytes"

/** Measures the sides in turn: the total cost of a delivery, and its parts. */
const measuring = (serversMs: () => number) => {
  const deliver = async ({ child, session }: Side, isWatched: boolean) => {
    const run = <A>(text: string, values: ReadonlyArray<unknown> = []) =>
      Effect.runPromise(session.run<A>(text, values))
    await child.ask({ raised: EVENTS } satisfies Raise)
    const [place] = await run<{ lsn: string }>(PLACE)
    await run(FORGET)
    const used = serversMs()
    const delivered = await child.ask<DeliveryResult>({ events: EVENTS, isWatched } satisfies Deliver)
    const servers = ((serversMs() - used) * 1_000) / DELIVERIES
    const [written] = await run<{ bytes: number }>(WRITTEN, [place!.lsn])
    return { ...delivered, servers, wal: written!.bytes / DELIVERIES, statements: await run<Statement>(STATEMENTS) }
  }
  const costs = async (side: Side): Promise<Costs> => {
    const { per_cpu_second, main_share, servers, wal } = await deliver(side, false)
    const process = 1e6 / per_cpu_second
    return { process, threads: process * (1 - main_share), servers, wal }
  }
  const parts = async (side: Side) => {
    const { shares = {}, statements } = await deliver(side, true)
    return { shares, statements: statements.filter(({ calls }) => calls >= DELIVERIES / SELDOM) }
  }
  return { costs, parts }
}

const PEER = "graphile-worker with its local queue"

const row = (part: string, unit: Row["unit"], ours: number, peer: number): Row => ({
  work: `a delivery: ${part}`,
  unit,
  ours: roundTo(ours, 1),
  peer: roundTo(peer, 1),
  peer_is: PEER
})

const split = async (ours: Side, peer: Side, serversMs: () => number, rounds: number): Promise<ReadonlyArray<Row>> => {
  const { costs, parts } = measuring(serversMs)
  for (let i = 0; i < WARM_UP_RUNS; i++) for (const side of [ours, peer]) await costs(side)
  const pairs: Array<{ readonly ours: Costs; readonly peer: Costs }> = []
  for (let i = 0; i < rounds; i++) pairs.push({ ours: await costs(ours), peer: await costs(peer) })
  const [oursSpent, peerSpent] = [await parts(ours), await parts(peer)]
  const both = (read: (costs: Costs) => number) =>
    [median(pairs.map(({ ours }) => read(ours))), median(pairs.map(({ peer }) => read(peer)))] as const
  const main = both(({ process, threads }) => process - threads)
  return [
    row("CPU time of its process", "µs", ...both(({ process }) => process)),
    row(
      "the process's threads beside the main one, which collect garbage and compile",
      "µs",
      ...both(({ threads }) => threads)
    ),
    ...Object.keys(oursSpent.shares).map((kind) =>
      row(`the main thread: ${kind}`, "µs", main[0] * oursSpent.shares[kind]!, main[1] * (peerSpent.shares[kind] ?? 0))
    ),
    row("CPU time of Postgres", "µs", ...both(({ servers }) => servers)),
    ...oursSpent.statements.map(({ name, us }) => row(`${name}, in the server`, "µs", us / DELIVERIES, 0)),
    ...peerSpent.statements.map(({ name, us }) => row(`${name}, in the server`, "µs", 0, us / DELIVERIES)),
    row("WAL", "bytes", ...both(({ wal }) => wal))
  ]
}

const side = (name: string, port: number, url: string) =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(url)
    yield* session.run("create extension if not exists pg_stat_statements")
    const started = Effect.promise(() => Child.start<object>(name, [String(port), url]))
    return { session, child: yield* Effect.acquireRelease(started, (child) => Effect.promise(() => child.stop())) }
  })

/** Shows the parts of the processor time of a delivery on Postgres, in our dispatcher and in graphile-worker. */
export const splitDelivery = benchmark({
  about: "where the processor time of a delivery on Postgres goes, beside graphile-worker, part by part",
  options: { rounds: { about: "how often each side is measured, in turn; the result is the median", value: "5" } },
  args: { usual: ["--rounds", "3"], quick: ["--rounds", "1"] },
  missing: () =>
    process.env.DATABASE_URL === undefined
      ? null
      : "It needs pg_stat_statements from the start of its server, and starts one of its own: unset DATABASE_URL.",
  run: async ({ rounds }) => {
    const all = Effect.gen(function* () {
      const { database } = yield* cluster({
        shared_preload_libraries: "pg_stat_statements",
        "pg_stat_statements.track_planning": "on"
      })
      const urls = [yield* database("delivery_ours"), yield* database("delivery_peer")] as const
      const serversMs = yield* serversCpu(urls.slice(0, 1))
      if (serversMs === null) return yield* Effect.dieMessage("The server's processes are not visible on this system")
      const receiver = yield* Effect.acquireRelease(
        Effect.promise(() => Child.start<{ readonly port: number }>("receiver")),
        (child) => Effect.promise(() => child.stop())
      )
      const ours = yield* side("ours", receiver.ready.port, urls[0])
      const peer = yield* side("peer", receiver.ready.port, urls[1])
      return yield* Effect.promise(() => split(ours, peer, serversMs, Number(rounds)))
    })
    return { rows: await Effect.runPromise(Effect.scoped(all)) }
  }
})
