import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { connect } from "../../../packages/store-pg/dist/migrate/Session.js"
import { median } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { timed } from "../timed.js"
import { callFunction } from "./callFunction.js"
import { compareSizes } from "./compareSizes.js"
import { findPgbench, runPgbench } from "./pgbench.js"
import { BenchClock, type Creator, creating, creators, IN_FLIGHT, SHOPS, world } from "./World.js"

/** What to reach (docs/how-it-is-built.md): creates against the function; an idle create in empty commits. */
const TARGETS = { rate: 1.0, idle: 4 } as const

const PEER = readFileSync(new URL("../../src/create/peer.sql", import.meta.url), "utf8")

/** Our creates for some seconds, {@link IN_FLIGHT} on their way at once. Answers creates a second. */
const runOurs = <E, R>(create: Effect.Effect<unknown, E, R>, seconds: number) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const end = begun + seconds * 1000
    let made = 0
    const one = Effect.whileLoop({
      while: () => performance.now() < end,
      body: () => create,
      step: () => {
        made++
      }
    })
    yield* Effect.all(
      Array.from({ length: IN_FLIGHT }, () => one),
      { concurrency: "unbounded", discard: true }
    )
    return (made * 1000) / (performance.now() - begun)
  })

const preparePeer = (url: string, shops: ReadonlyArray<Creator>) =>
  Effect.gen(function* () {
    const session = yield* connect(url)
    yield* session.run(PEER)
    for (const [i, { shop_id }] of shops.entries())
      yield* session.run("insert into peer_shop values ($1, $2)", [i + 1, shop_id])
    yield* session.run("create table empty_commit (n integer)")
    return session
  })

interface Asked {
  readonly pairs: number
  readonly seconds: number
  readonly sizes: boolean
}

const rates = (create: Effect.Effect<unknown, unknown>, url: string, shops: ReadonlyArray<Creator>, asked: Asked) =>
  Effect.gen(function* () {
    const pgbench = findPgbench()
    const ids = shops.map(({ shop_id }) => shop_id)
    const peer = (seconds: number) =>
      Effect.promise(() =>
        pgbench === undefined ? callFunction(url, ids, seconds) : runPgbench(pgbench, url, seconds)
      )
    yield* runOurs(create, asked.seconds)
    yield* peer(1)
    const found: Array<{ readonly ours: number; readonly theirs: number }> = []
    for (let i = 0; i < asked.pairs; i++) {
      const ours = yield* runOurs(create, asked.seconds)
      const theirs = yield* peer(asked.seconds)
      console.error(`create ${i + 1}/${asked.pairs}: ${Math.round(ours)} of ${Math.round(theirs)}`)
      found.push({ ours, theirs })
    }
    const ratio = median(found.map(({ ours, theirs }) => ours / theirs))
    return {
      work: `creates a second, ${IN_FLIGHT} in flight, ${SHOPS} shops`,
      ours: Math.round(median(found.map(({ ours }) => ours))),
      peer: Math.round(median(found.map(({ theirs }) => theirs))),
      "peer is": pgbench === undefined ? "the function through pg" : "pgbench calling the function",
      ratio: Number(ratio.toFixed(2)),
      target: `at least ${TARGETS.rate}`,
      reached: ratio >= TARGETS.rate
    }
  })

const idleRow = (create: Effect.Effect<unknown, unknown>, commit: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* timed(200, create)
    yield* timed(200, commit)
    const found: Array<{ readonly ours: number; readonly theirs: number }> = []
    for (let i = 0; i < 5; i++) found.push({ ours: yield* timed(300, create), theirs: yield* timed(300, commit) })
    const ratio = median(found.map(({ ours, theirs }) => ours / theirs))
    return {
      work: "one create when idle, p50 ms",
      ours: Number(median(found.map(({ ours }) => ours)).toFixed(2)),
      peer: Number(median(found.map(({ theirs }) => theirs)).toFixed(2)),
      "peer is": "one commit of one row",
      ratio: Number(ratio.toFixed(2)),
      target: `at most ${TARGETS.idle}`,
      reached: ratio <= TARGETS.idle
    }
  })

const bench = (asked: Asked): Effect.Effect<ReadonlyArray<{ readonly reached: boolean }>, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { database } = yield* cluster
    const url = yield* database("create")
    const clock = new BenchClock()
    const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.empty, world(url, clock)))
    yield* Effect.addFinalizer(() => Effect.promise(() => runtime.dispose()))
    const context = yield* runtime.runtimeEffect
    const inWorld = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, context)
    const shops = yield* inWorld(creators) as Effect.Effect<ReadonlyArray<Creator>, unknown>
    const create = (yield* inWorld(creating(shops, clock))) as Effect.Effect<unknown, unknown>
    const session = yield* preparePeer(url, shops)
    const rows = yield* inWorld(
      Effect.all([
        rates(create, url, shops, asked),
        idleRow(create, session.run("insert into empty_commit values ($1)", [1]))
      ])
    )
    return asked.sizes ? [...rows, ...(yield* compareSizes(database))] : rows
  })

/** Creates through the Postgres store, against one PL/pgSQL call that writes the same rows. */
export const compareCreate = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assert: { type: "boolean", default: false },
      pairs: { type: "string", default: "5" },
      seconds: { type: "string", default: "4" },
      "no-sizes": { type: "boolean", default: false }
    }
  })
  const asked = { pairs: Number(values.pairs), seconds: Number(values.seconds), sizes: !values["no-sizes"] }
  const rows = await Effect.runPromise(Effect.scoped(bench(asked)))
  console.table(rows)
  return !values.assert || rows.every(({ reached }) => reached)
}
