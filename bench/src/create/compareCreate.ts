import { readFileSync } from "node:fs"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import { serversCpu } from "../cells/ServerCpu.js"
import { median } from "../Median.js"
import { medianTime } from "../medianTime.js"
import { type Shares, startProfile } from "../parts/profile.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { callFunction } from "./callFunction.js"
import { findPgbench, runPgbench } from "./pgbench.js"
import { BenchClock, type Creator, createNext, creators, IN_FLIGHT, SHOPS, storeLayer } from "./Workload.js"

/**
 * The bounds (docs/how-it-is-built.md): the rate compared with the function, and the duration of an idle create
 * compared with an empty commit.
 */
const TARGETS = { rate: { at_least: 1 }, idle: { at_most: 4 } } as const
const GOALS = { rate: { at_least: 3 }, idle: { at_most: 2 } } as const

const PEER = readFileSync(new URL("../../src/create/peer.sql", import.meta.url), "utf8")

/** The rate of creates, and the processor time of each in microseconds. */
interface Creates {
  readonly per_second: number
  readonly process_us: number
  /** The processor time in the server; undefined if its processes are not visible. */
  readonly server_us: number | undefined
}

/** Reads the processor time that the server used so far, in milliseconds. */
type ServerMs = (() => number) | null

/** Runs our creates for some seconds, with {@link IN_FLIGHT} in flight. */
const runOurs = <E, R>(create: Effect.Effect<unknown, E, R>, seconds: number, serverMs: ServerMs) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const end = begun + seconds * 1000
    const own = process.cpuUsage()
    const before = serverMs?.()
    let count = 0
    const one = Effect.whileLoop({
      while: () => performance.now() < end,
      body: () => create,
      step: () => {
        count++
      }
    })
    yield* Effect.all(
      Array.from({ length: IN_FLIGHT }, () => one),
      { concurrency: "unbounded", discard: true }
    )
    const took_ms = performance.now() - begun
    const { user, system } = process.cpuUsage(own)
    return {
      per_second: (count * 1000) / took_ms,
      process_us: (user + system) / count,
      server_us: before === undefined ? undefined : ((serverMs!() - before) * 1000) / count
    } satisfies Creates
  })

const preparePeer = (url: string, shops: ReadonlyArray<Creator>) =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(url)
    yield* session.run(PEER)
    for (const [i, { shop_id }] of shops.entries())
      yield* session.run("insert into peer_shop values ($1, $2)", [i + 1, shop_id])
    yield* session.run("create table empty_commit (n integer)")
    return session
  })

interface Asked {
  readonly pairs: number
  readonly seconds: number
}

/**
 * The kinds of work in a create, each with a pattern for the addresses of its code. The first that
 * matches counts.
 */
const KINDS = [
  ["garbage collection", /^\(garbage collector\)/],
  ["Effect", /node_modules\/(effect|@effect)\//],
  ["the driver of Postgres", /node_modules\/pg(-[a-z]+)?\//],
  ["store: lane, statements", /packages\/store-pg\//],
  ["decisions and rules", /packages\/|node_modules\//],
  ["Node: sockets, streams, hashes", /^/]
] as const

const splitRows = (creates: Creates, peer_us: number | undefined, shares: Shares, peer_is: string) => {
  const row = (part: string, ours: number, peer?: number): Row => ({
    work: `a create: ${part}`,
    unit: "µs",
    ours: roundTo(ours, 1),
    ...(peer !== undefined && { peer: roundTo(peer, 1), peer_is })
  })
  const { process_us, server_us } = creates
  return [
    row("CPU time of our process, which decides it", process_us),
    ...Object.entries(shares).map(([kind, share]) => row(`our process: ${kind}`, process_us * share)),
    ...(server_us === undefined ? [] : [row("CPU time of Postgres", server_us, peer_us)])
  ]
}

const rates = (create: Effect.Effect<unknown, unknown>, url: string, shops: ReadonlyArray<Creator>, asked: Asked) =>
  Effect.gen(function* () {
    const pgbench = findPgbench()
    const serverMs = yield* serversCpu([url])
    const ids = shops.map(({ shop_id }) => shop_id)
    const peer = (seconds: number) =>
      Effect.promise(async () => {
        const before = serverMs?.()
        const per_second =
          pgbench === undefined ? await callFunction(url, ids, seconds) : await runPgbench(pgbench, url, seconds)
        const server_us = before === undefined ? undefined : ((serverMs!() - before) * 1000) / (per_second * seconds)
        return { per_second, server_us }
      })
    const peer_is =
      pgbench === undefined
        ? "one PL/pgSQL function that writes the same rows, called through pg"
        : "one PL/pgSQL function that writes the same rows, called by pgbench"
    yield* runOurs(create, asked.seconds, serverMs)
    yield* peer(1)
    const pairs: Array<{ readonly ours: Creates; readonly theirs: Pick<Creates, "per_second" | "server_us"> }> = []
    for (let i = 0; i < asked.pairs; i++) {
      const ours = yield* runOurs(create, asked.seconds, serverMs)
      const theirs = yield* peer(asked.seconds)
      const shown = [ours, theirs].map(({ per_second }) => Math.round(per_second))
      console.error(`create ${i + 1}/${asked.pairs}: ${shown.join(" of ")}`)
      pairs.push({ ours, theirs })
    }
    const stop = yield* Effect.promise(() => startProfile(KINDS))
    yield* runOurs(create, asked.seconds, null)
    const shares = yield* Effect.promise(stop)
    const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of))
    const visible = serverMs !== null
    const creates: Creates = {
      per_second: middle(({ ours }) => ours.per_second),
      process_us: middle(({ ours }) => ours.process_us),
      server_us: visible ? middle(({ ours }) => ours.server_us!) : undefined
    }
    const rate: Row = {
      work: `creates on Postgres, ${IN_FLIGHT} in flight, ${SHOPS} shops`,
      unit: "/s",
      ours: Math.round(creates.per_second),
      peer: Math.round(middle(({ theirs }) => theirs.per_second)),
      peer_is,
      ratio: roundTo(middle(({ ours, theirs }) => ours.per_second / theirs.per_second)),
      target: TARGETS.rate,
      goal: GOALS.rate
    }
    const peer_us = visible ? middle(({ theirs }) => theirs.server_us!) : undefined
    return { rate, split: splitRows(creates, peer_us, shares, peer_is) }
  })

const idleRow = (create: Effect.Effect<unknown, unknown>, commit: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* medianTime(200, create)
    yield* medianTime(200, commit)
    const pairs: Array<{ readonly ours: number; readonly theirs: number }> = []
    for (let i = 0; i < 5; i++)
      pairs.push({ ours: yield* medianTime(300, create), theirs: yield* medianTime(300, commit) })
    const ratio = median(pairs.map(({ ours, theirs }) => ours / theirs))
    return {
      work: "one create on an idle Postgres, p50",
      unit: "ms",
      ours: roundTo(median(pairs.map(({ ours }) => ours))),
      peer: roundTo(median(pairs.map(({ theirs }) => theirs))),
      peer_is: "one commit of one row",
      ratio: roundTo(ratio),
      target: TARGETS.idle,
      goal: GOALS.idle
    } satisfies Row
  })

const bench = (asked: Asked): Effect.Effect<ReadonlyArray<Row>, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { database } = yield* cluster()
    const url = yield* database("create")
    const clock = new BenchClock()
    const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.empty, storeLayer(url, clock)))
    yield* Effect.addFinalizer(() => Effect.promise(() => runtime.dispose()))
    const context = yield* runtime.runtimeEffect
    const withStore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, context)
    const shops = yield* withStore(creators) as Effect.Effect<ReadonlyArray<Creator>, unknown>
    const create = (yield* withStore(createNext(shops, clock))) as Effect.Effect<unknown, unknown>
    const session = yield* preparePeer(url, shops)
    const { rate, split } = yield* withStore(rates(create, url, shops, asked))
    return [rate, yield* idleRow(create, session.run("insert into empty_commit values ($1)", [1])), ...split]
  })

/** Compares creates through the Postgres store with one PL/pgSQL call that writes the same rows. */
export const create = benchmark({
  about: "creates on Postgres against a function that writes the same rows, part by part, and one on an idle database",
  options: {
    pairs: { about: "the number of pairs (ours, then the function)", value: "5" },
    seconds: { about: "how long each side of a pair runs", value: "4" }
  },
  args: { usual: ["--pairs", "3"], quick: ["--pairs", "1", "--seconds", "2"] },
  run: async ({ pairs, seconds }) => {
    const asked = { pairs: Number(pairs), seconds: Number(seconds) }
    return { rows: await Effect.runPromise(Effect.scoped(bench(asked))) }
  }
})
