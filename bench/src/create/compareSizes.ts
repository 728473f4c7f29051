import { readFileSync } from "node:fs"
import { Entropy, type TicketId } from "@workshop/core"
import { Deliveries, Reads } from "@workshop/core/store"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer } from "effect"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { openShop, run } from "../../../packages/core/dist/testing/Fixtures.js"
import { connect } from "../../../packages/store-pg/dist/migrate/Session.js"
import { median } from "../Median.js"
import type { Cluster } from "../pg/Cluster.js"
import { type Row, rounded } from "../report/Benchmark.js"
import { BenchClock } from "./World.js"

const SMALL = 10_000
const LARGE = 1_000_000

/** The targets: the same cost at a hundred times the tickets (docs/how-it-is-built.md). */
const TARGET = 1.3

const ROUNDS = 9
const TIMES = 100

/** The statements that fill a schema with tickets of its one shop. */
export const FILL = readFileSync(new URL("../../src/create/many.sql", import.meta.url), "utf8")
  .split(/;\s*$/m)
  .map((statement) => statement.trim())
  .filter((statement) => statement !== "" && !/^(--.*\n?)*$/.test(statement))

const works = ["GET one ticket", "a page of 50", "by number", "claim of 4"] as const

const idOf = (n: number) => `018f0000-0000-7000-8000-${n.toString(16).padStart(12, "0")}` as TicketId

/** Leases end at once, so that a claim can be made again and again. */
const leases = { now: 0 }
const leaseClock = Effect.sync(() => {
  leases.now += 60_000
  return leases.now
})

/** A database with one shop of this many tickets, and how each of the works is done there. */
const filled = (database: Cluster["database"], tickets: number) =>
  Effect.gen(function* () {
    const url = yield* database(`sizes_${tickets}`)
    const clock = new BenchClock()
    const layer = PgStore.layer({ url, leaseClock }).pipe(Layer.provideMerge(Layer.merge(Entropy.layer, clock.layer)))
    const context = yield* Layer.build(layer)
    const { id } = yield* Effect.provide(openShop(), context)
    yield* Effect.provide(run(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" })), context)
    const session = yield* connect(url)
    for (const statement of FILL) yield* session.run(statement, statement.includes("$1") ? [tickets] : undefined)
    const [reads, deliveries] = yield* Effect.provide(Effect.all([Reads, Deliveries]), context)
    const now = 1_795_170_042_123
    let n = 0
    const some = () => ((++n * 7919) % tickets) + 1
    const newest = { _tag: "Newest", after: null } as const
    const doing: Readonly<Record<(typeof works)[number], Effect.Effect<unknown, unknown>>> = {
      "GET one ticket": Effect.suspend(() => reads.ticket(id, idOf(some()))),
      "a page of 50": Effect.suspend(() => reads.tickets(id, { state: ["ready"] }, newest, 50)),
      "by number": Effect.suspend(() => reads.ticketsOfNumber(id, (some() % 999) + 1, 1)),
      "claim of 4": deliveries.claim(now, 4)
    }
    return { doing, after: deliveries.reclaim }
  })

type Filled = Effect.Effect.Success<ReturnType<typeof filled>>

const time = ({ doing, after }: Filled, work: (typeof works)[number]) =>
  Effect.gen(function* () {
    const took: Array<number> = []
    for (let i = 0; i < TIMES; i++) {
      const begun = performance.now()
      yield* doing[work]
      took.push(performance.now() - begun)
      if (work === "claim of 4") yield* after
    }
    return median(took)
  })

/** The cost of reads and claims in a shop of a million tickets, in terms of one of ten thousand. */
export const compareSizes = (database: Cluster["database"]) =>
  Effect.gen(function* () {
    const small = yield* filled(database, SMALL)
    const large = yield* filled(database, LARGE)
    return yield* Effect.forEach(works, (work) =>
      Effect.gen(function* () {
        const found: Array<{ readonly ours: number; readonly theirs: number }> = []
        for (let i = 0; i < ROUNDS; i++)
          found.push({ ours: yield* time(large, work), theirs: yield* time(small, work) })
        const ratio = median(found.slice(2).map(({ ours, theirs }) => ours / theirs))
        return {
          work: `${work}, 1,000,000 tickets, p50`,
          unit: "ms",
          ours: rounded(median(found.map(({ ours }) => ours)), 3),
          peer: rounded(median(found.map(({ theirs }) => theirs)), 3),
          peer_is: "the same with 10,000",
          ratio: rounded(ratio),
          target: { at_most: TARGET },
          goal: { at_most: 1.2 }
        } satisfies Row
      })
    )
  })
