import { Effect } from "effect"
import { type Cluster, cluster } from "../pg/Cluster.js"
import { benchmark, type Plot, type Row, roundTo } from "../report/Benchmark.js"
import { growthPlot } from "../report/plot.js"
import { writtenByActs } from "./actWrites.js"
import { measureClaims, warmingUp } from "./claims.js"
import { heldSnapshot } from "./heldSnapshot.js"
import { AT_ONCE, countingRequests } from "./limits.js"
import { lockedTable } from "./locked.js"
import { ticketGrowth } from "./TicketGrowth.js"

/** The targets (docs/how-it-is-built.md). */
const TARGETS = {
  limits: 2,
  claim_ms: 1,
  snapshot: 3,
  index_bytes: 1_000,
  metrics_ms: 20,
  connections: 16,
  statement_s: 3.5,
  written: 1.2,
  heap: 1.2
} as const

/** The results of one part: rows for the table, and plots. */
interface Found {
  readonly rows: ReadonlyArray<Row>
  readonly plots: ReadonlyArray<Plot>
}

const rowWithTarget = (work: string, unit: Row["unit"], ours: number, max: number | null): Row => ({
  work,
  unit,
  ours: roundTo(ours),
  ...(max === null ? {} : { target: { at_most: max } })
})

const limits = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const all = yield* countingRequests(database, isQuick ? [1_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000])
    const [few, many] = [all[0]!, all.at(-1)!]
    const rows = all.flatMap(({ keys, alone, together }) => [
      rowWithTarget(`count a request, ${keys} keys in use`, "ms", alone, null),
      rowWithTarget(`count ${AT_ONCE} at once, ${keys} keys in use`, "ms", together, null)
    ])
    const ratio = Math.max(many.alone / few.alone, many.together / few.together)
    const series = (name: "alone" | "together") => ({
      name: name === "alone" ? "alone" : `${AT_ONCE} at once`,
      points: all.map((one) => [one.keys, one[name]] as const)
    })
    const text = { title: "Counting a request", x: "keys in use", y: "ms, median" }
    return {
      rows: [
        ...rows,
        rowWithTarget("count a request: with the most keys, divided by with the fewest", "", ratio, TARGETS.limits)
      ],
      plots: [growthPlot("growth-limits", text, [series("alone"), series("together")])]
    }
  })

/** The heap of a delivering process, divided by the heap beside the smallest backlog. */
const heap = (beside: string, bytes: number, min: number): Row => ({
  work: `heap of a process that delivers, ${beside}`,
  unit: "MiB",
  ours: roundTo(bytes / 2 ** 20),
  ...(bytes !== min && {
    peer: roundTo(min / 2 ** 20),
    peer_is: "the same beside the smallest backlog",
    ratio: roundTo(bytes / min),
    target: { at_most: TARGETS.heap },
    goal: { at_most: TARGETS.heap }
  })
})

const claims = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const sizes = [
      { shops: 10, waiting: 10, each: 100 },
      { shops: 1_001, waiting: 1_000, each: 100 },
      ...(isQuick ? [] : [{ shops: 100_000, waiting: 10_000, each: 100 }])
    ]
    yield* warmingUp(database)
    const all = yield* Effect.forEach(sizes, (size) => measureClaims(database, size))
    const rows = all.flatMap(({ shops, waiting, each, claimed, created, looked, fresh_after, not_in_turn, bytes }) => {
      const beside = `${shops} shops, ${waiting * each} deliveries due in ${waiting}`
      return [
        rowWithTarget(`claim of one, ${beside}`, "ms", claimed, TARGETS.claim_ms),
        rowWithTarget(`create, ${beside}`, "ms", created, null),
        rowWithTarget(`scrape of the metrics, ${beside}`, "ms", looked, TARGETS.metrics_ms),
        ...(fresh_after === null
          ? []
          : [
              rowWithTarget(
                `place of a new shop's first delivery in the claim order, ${beside}`,
                "",
                fresh_after,
                waiting + 1
              )
            ]),
        rowWithTarget(`shops not served while others were served twice, ${beside}`, "", not_in_turn, 0),
        heap(beside, bytes, all[0]!.bytes)
      ]
    })
    const series = (name: "claimed" | "created" | "looked", title: string) => ({
      name: title,
      points: all.map((one) => [one.waiting * one.each, one[name]] as const)
    })
    const text = { title: "Beside a backlog", x: "deliveries due", y: "ms, median" }
    const named = [
      series("claimed", "claim of one"),
      series("created", "create"),
      series("looked", "scrape of the metrics")
    ]
    return { rows, plots: [growthPlot("growth-backlog", text, named)] }
  })

const snapshot = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const minutes = isQuick ? 2 : 10
    const { before, tenths } = yield* heldSnapshot(database, minutes)
    const points = [before, ...tenths].map((ms, i) => [(i * minutes) / 10, ms] as const)
    const text = { title: "Claims while a snapshot is held", x: "minutes, at 100 deliveries a second", y: "ms, median" }
    return {
      rows: [
        rowWithTarget("claim of 64, no snapshot", "ms", before, null),
        rowWithTarget(`claim of 64, snapshot held for ${minutes} minutes`, "ms", tenths.at(-1)!, null),
        rowWithTarget(
          "claim of 64: with the snapshot, divided by without",
          "",
          tenths.at(-1)! / before,
          TARGETS.snapshot
        )
      ],
      plots: [growthPlot("growth-snapshot", text, [{ name: "claim of 64", points }], "linear")]
    }
  }).pipe(Effect.scoped)

const tickets = (database: Cluster["database"], isQuick: boolean, max: number) =>
  Effect.map(ticketGrowth(database, isQuick ? max / 10 : max), ({ rows, index }) => ({
    rows: [
      ...rows.map(({ name, bytes }) => rowWithTarget(`${name}, a ticket`, "bytes", bytes, null)),
      rowWithTarget("all indexes, a ticket", "bytes", index, TARGETS.index_bytes)
    ],
    plots: []
  }))

/** The amounts that an act writes, with their labels. */
const AMOUNTS = [
  { name: "wal", shown: "WAL", unit: "bytes" },
  { name: "rows", shown: "rows written", unit: "" },
  { name: "table", shown: "WAL of rows", unit: "bytes" },
  { name: "index", shown: "WAL of index entries", unit: "bytes" }
] as const

/** Measures the writes of acts in a separate cluster, because a server has one WAL for all databases. */
const acts = (_: Cluster["database"], isQuick: boolean) =>
  Effect.scoped(Effect.flatMap(cluster({ full_page_writes: "off" }), ({ database }) => written(database, isQuick)))

const written = (database: Cluster["database"], isQuick: boolean) =>
  Effect.map(writtenByActs(database, isQuick ? [10_000, 100_000] : [10_000, 1_000_000]), (all) => {
    const rows = all.flatMap(({ act, each }) =>
      AMOUNTS.map(({ name, shown, unit }): Row => {
        const [few, many] = [each[0]!, each.at(-1)!]
        return {
          work: `${act}: ${shown}, ${many.tickets.toLocaleString("en-US")} tickets`,
          unit,
          ours: roundTo(many[name], 1),
          peer: roundTo(few[name], 1),
          peer_is: `the same with ${few.tickets.toLocaleString("en-US")}`,
          ratio: roundTo(many[name] / few[name]),
          ...(name !== "rows" && { target: { at_most: TARGETS.written }, goal: { at_most: TARGETS.written } })
        }
      })
    )
    const plots = (["wal", "index"] as const).map((name) => {
      const text = {
        title: name === "wal" ? "WAL of an act" : "New entries of indexes by an act",
        x: "tickets",
        y: "bytes"
      }
      const series = all.map(({ act, each }) => ({
        name: act.replace(" with a webhook", ""),
        points: each.map((one) => [one.tickets, one[name]] as const)
      }))
      return growthPlot(`growth-acts-${name}`, text, series)
    })
    return { rows, plots }
  })

const locked = (database: Cluster["database"], isQuick: boolean) => {
  const seconds = isQuick ? 10 : 60
  return Effect.map(lockedTable(database, seconds), ({ connections, statement_s, answered, back_ms }) => ({
    rows: [
      rowWithTarget(`connections of a process, tickets locked for ${seconds} s`, "", connections, TARGETS.connections),
      rowWithTarget("the longest statement meanwhile", "s", statement_s, TARGETS.statement_s),
      rowWithTarget("requests answered that need the table", "", answered, 0),
      rowWithTarget("first create after the lock", "ms", back_ms, null)
    ],
    plots: []
  }))
}

const PARTS: Readonly<
  Record<
    string,
    (database: Cluster["database"], isQuick: boolean, tickets: number) => Effect.Effect<Found, unknown, never>
  >
> = { limits: (database, isQuick) => Effect.scoped(limits(database, isQuick)), claims, snapshot, tickets, acts, locked }

/** The parts that may run concurrently, if this run started the cluster. */
const UNTIMED = ["tickets", "acts", "locked"]

/**
 * Measures how the Postgres store's costs grow with keys, shops, a backlog, a held snapshot and tickets, and what each
 * act writes.
 */
export const growth = benchmark({
  about: "how the Postgres store's costs grow with keys, shops, a backlog, a held snapshot and tickets",
  options: {
    only: { about: "some of the six parts", value: Object.keys(PARTS).join(",") },
    tickets: { about: "the number of tickets whose indexes are weighed", value: "400000" },
    quick: { about: "a tenth of the sizes, in about three minutes" }
  },
  args: { usual: ["--tickets", "100000"], quick: ["--quick", "--only", "limits,claims"] },
  run: async ({ only, tickets, quick }) => {
    const names = only.split(",")
    const unknown = names.find((name) => !(name in PARTS))
    if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(PARTS).join(", ")}; not ${unknown}`)
    const bench = Effect.gen(function* () {
      const { database } = yield* cluster()
      const part = (name: string) => {
        console.error(`growth: ${name}`)
        return PARTS[name]!(database, quick, Number(tickets))
      }
      // The untimed parts run concurrently, because they count bytes and wait for time-outs, which other work does not
      // affect.
      const timed = yield* Effect.forEach(
        names.filter((name) => !UNTIMED.includes(name)),
        part
      )
      const untimed = yield* Effect.forEach(
        names.filter((name) => UNTIMED.includes(name)),
        part,
        { concurrency: process.env.DATABASE_URL === undefined ? UNTIMED.length : 1 }
      )
      return [...timed, ...untimed]
    })
    const results = await Effect.runPromise(Effect.scoped(bench))
    return { rows: results.flatMap(({ rows }) => rows), plots: results.flatMap(({ plots }) => plots) }
  }
})
