import { readFileSync } from "node:fs"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { connect } from "../../../packages/store-pg/dist/migrate/Session.js"
import { median } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, rounded } from "../report/Benchmark.js"
import { timed } from "../timed.js"
import { callFunction } from "./callFunction.js"
import { findPgbench, runPgbench } from "./pgbench.js"
import { BenchClock, type Creator, creating, creators, IN_FLIGHT, SHOPS, world } from "./World.js"

/** The bounds (docs/how-it-is-built.md): creates against the function; an idle create in empty commits. */
const TARGETS = { rate: { at_least: 1 }, idle: { at_most: 4 } } as const
const GOALS = { rate: { at_least: 3 }, idle: { at_most: 2 } } as const

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
      work: `creates on Postgres, ${IN_FLIGHT} in flight, ${SHOPS} shops`,
      unit: "/s",
      ours: Math.round(median(found.map(({ ours }) => ours))),
      peer: Math.round(median(found.map(({ theirs }) => theirs))),
      peer_is:
        pgbench === undefined
          ? "one PL/pgSQL function that writes the same rows, called through pg"
          : "one PL/pgSQL function that writes the same rows, called by pgbench",
      ratio: rounded(ratio),
      target: TARGETS.rate,
      goal: GOALS.rate
    } satisfies Row
  })

const idleRow = (create: Effect.Effect<unknown, unknown>, commit: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* timed(200, create)
    yield* timed(200, commit)
    const found: Array<{ readonly ours: number; readonly theirs: number }> = []
    for (let i = 0; i < 5; i++) found.push({ ours: yield* timed(300, create), theirs: yield* timed(300, commit) })
    const ratio = median(found.map(({ ours, theirs }) => ours / theirs))
    return {
      work: "one create on an idle Postgres, p50",
      unit: "ms",
      ours: rounded(median(found.map(({ ours }) => ours))),
      peer: rounded(median(found.map(({ theirs }) => theirs))),
      peer_is: "one commit of one row",
      ratio: rounded(ratio),
      target: TARGETS.idle,
      goal: GOALS.idle
    } satisfies Row
  })

const bench = (asked: Asked): Effect.Effect<ReadonlyArray<Row>, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { database } = yield* cluster()
    const url = yield* database("create")
    const clock = new BenchClock()
    const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.empty, world(url, clock)))
    yield* Effect.addFinalizer(() => Effect.promise(() => runtime.dispose()))
    const context = yield* runtime.runtimeEffect
    const inWorld = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, context)
    const shops = yield* inWorld(creators) as Effect.Effect<ReadonlyArray<Creator>, unknown>
    const create = (yield* inWorld(creating(shops, clock))) as Effect.Effect<unknown, unknown>
    const session = yield* preparePeer(url, shops)
    return yield* inWorld(
      Effect.all([
        rates(create, url, shops, asked),
        idleRow(create, session.run("insert into empty_commit values ($1)", [1]))
      ])
    )
  })

/** Creates through the Postgres store, against one PL/pgSQL call that writes the same rows. */
export const create = benchmark({
  about: "creates on Postgres against a function that writes the same rows, and one on an idle database",
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
