import { mkdirSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { lines } from "../../../packages/cli/dist/simulate/report/htmlReport.js"
import { type Cluster, cluster } from "../pg/Cluster.js"
import { writtenByActs } from "./acts.js"
import { claiming } from "./claims.js"
import { heldSnapshot } from "./heldSnapshot.js"
import { AT_ONCE, countingRequests } from "./limits.js"
import { lockedTable } from "./locked.js"
import { ticketGrowth } from "./TicketGrowth.js"

/** What to reach (docs/how-it-is-built.md). */
const TARGETS = {
  limits: 2,
  claim_ms: 1,
  snapshot: 3,
  index_bytes: 1_000,
  metrics_ms: 20,
  connections: 16,
  statement_s: 3.5
} as const

interface Row {
  readonly work: string
  readonly ours: number
  readonly target: string
  readonly reached: boolean
}

/** What one part found: rows for the table, and plots. */
interface Found {
  readonly rows: ReadonlyArray<Row>
  readonly plots: ReadonlyArray<string>
}

const round = (n: number) => Number(n.toFixed(2))
const atMost = (work: string, ours: number, most: number | null): Row => ({
  work,
  ours: round(ours),
  target: most === null ? "" : `at most ${most}`,
  reached: most === null || ours <= most
})

const powers = (x: number) => Math.round(10 ** x).toLocaleString("en")

const limits = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const all = yield* countingRequests(database, isQuick ? [1_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000])
    const [few, many] = [all[0]!, all.at(-1)!]
    const rows = all.flatMap(({ keys, alone, together }) => [
      atMost(`count a request, ${keys} keys, ms`, alone, null),
      atMost(`count ${AT_ONCE} at once, ${keys} keys, ms`, together, null)
    ])
    const ratio = Math.max(many.alone / few.alone, many.together / few.together)
    const series = (name: "alone" | "together") => ({
      name: name === "alone" ? "alone" : `${AT_ONCE} at once`,
      points: all.map((one) => [Math.log10(one.keys), one[name]] as const)
    })
    const text = { title: "Counting a request", x: "keys in use (each step ten times as many)", y: "ms, median" }
    return {
      rows: [...rows, atMost(`most keys in terms of the fewest`, ratio, TARGETS.limits)],
      plots: [lines(text, [series("alone"), series("together")], powers)]
    }
  })

const claims = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const sizes = [
      { shops: 10, waiting: 10, each: 100 },
      { shops: 1_001, waiting: 1_000, each: 100 },
      ...(isQuick ? [] : [{ shops: 100_000, waiting: 10_000, each: 100 }])
    ]
    const all = yield* Effect.forEach(sizes, (size) => claiming(database, size))
    const rows = all.flatMap(({ shops, waiting, each, claimed, created, looked, fresh_after, not_in_turn }) => {
      const beside = `${shops} shops, ${waiting * each} due of ${waiting}`
      return [
        atMost(`claim of one, ${beside}, ms`, claimed, TARGETS.claim_ms),
        atMost(`create, ${beside}, ms`, created, null),
        atMost(`look at the metrics, ${beside}, ms`, looked, TARGETS.metrics_ms),
        ...(fresh_after === null
          ? []
          : [atMost(`a fresh shop's first delivery comes as number, ${beside}`, fresh_after, waiting + 1)]),
        atMost(`shops without a turn while others had two, ${beside}`, not_in_turn, 0)
      ]
    })
    const series = (name: "claimed" | "created" | "looked", title: string) => ({
      name: title,
      points: all.map((one) => [Math.log10(one.waiting * one.each), one[name]] as const)
    })
    const text = { title: "Beside a backlog", x: "deliveries due (each step ten times as many)", y: "ms, median" }
    const named = [
      series("claimed", "claim of one"),
      series("created", "create"),
      series("looked", "look at the metrics")
    ]
    return { rows, plots: [lines(text, named, powers)] }
  })

const snapshot = (database: Cluster["database"], isQuick: boolean) =>
  Effect.gen(function* () {
    const minutes = isQuick ? 2 : 10
    const { before, tenths } = yield* heldSnapshot(database, minutes)
    const points = [before, ...tenths].map((ms, i) => [(i * minutes) / 10, ms] as const)
    const text = { title: "Claims while a snapshot is held", x: "minutes, at 100 deliveries a second", y: "ms, median" }
    return {
      rows: [
        atMost("claim of 64, no snapshot, ms", before, null),
        atMost(`claim of 64, snapshot held for ${minutes} minutes, ms`, tenths.at(-1)!, null),
        atMost("held in terms of not held", tenths.at(-1)! / before, TARGETS.snapshot)
      ],
      plots: [lines(text, [{ name: "claim", points }], (x) => String(x))]
    }
  }).pipe(Effect.scoped)

const tickets = (database: Cluster["database"], isQuick: boolean) =>
  Effect.map(ticketGrowth(database, isQuick ? 40_000 : 400_000), ({ rows, index }) => ({
    rows: [
      ...rows.map(({ name, bytes }) => atMost(`${name}, bytes a ticket`, bytes, null)),
      atMost("all indexes, bytes a ticket", index, TARGETS.index_bytes)
    ],
    plots: []
  }))

const acts = (database: Cluster["database"]) =>
  Effect.map(writtenByActs(database), (all) => ({
    rows: all.flatMap(({ act, wal, rows, index }) => [
      atMost(`${act}: bytes of WAL`, wal, null),
      atMost(`${act}: rows`, rows, null),
      atMost(`${act}: bytes of index`, index, null)
    ]),
    plots: []
  }))

const locked = (database: Cluster["database"], isQuick: boolean) => {
  const seconds = isQuick ? 10 : 60
  return Effect.map(lockedTable(database, seconds), ({ connections, statement_s, answered, back_ms }) => ({
    rows: [
      atMost(`connections of a process, tickets locked for ${seconds} s`, connections, TARGETS.connections),
      atMost("the longest statement meanwhile, s", statement_s, TARGETS.statement_s),
      atMost("requests answered that need the table", answered, 0),
      atMost("first create after the lock, ms", back_ms, null)
    ],
    plots: []
  }))
}

const PARTS: Readonly<
  Record<string, (database: Cluster["database"], isQuick: boolean) => Effect.Effect<Found, unknown, never>>
> = { limits: (...given) => Effect.scoped(limits(...given)), claims, snapshot, tickets, acts, locked }

const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 44rem } svg { width: 100% } text { font-size: 11px }
.grid { stroke: #8886 } polyline { fill: none; stroke-width: 2 } .l0 { stroke: #0969da } .l1 { stroke: #bc4c00 } .l2 { stroke: #1a7f37 }
.legend i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em } .c0 { background: #0969da } .c1 { background: #bc4c00 } .c2 { background: #1a7f37 }`

/** How the Postgres store's costs grow: with keys, shops, a backlog, a held snapshot and tickets; and what each act writes. */
export const compareGrowth = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assert: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      plots: { type: "string", default: ".workshop/growth.html" }
    }
  })
  const names = values.only?.split(",") ?? Object.keys(PARTS)
  const unknown = names.find((name) => !(name in PARTS))
  if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(PARTS).join(", ")}; not ${unknown}`)
  const bench = Effect.gen(function* () {
    const { database } = yield* cluster
    return yield* Effect.forEach(names, (name) => {
      console.error(`growth: ${name}`)
      return PARTS[name]!(database, values.quick)
    })
  })
  const found = await Effect.runPromise(Effect.scoped(bench))
  const rows = found.flatMap(({ rows }) => rows)
  console.table(rows)
  const plots = found.flatMap(({ plots }) => plots)
  if (plots.length > 0) {
    mkdirSync(".workshop", { recursive: true })
    writeFileSync(
      values.plots,
      `<!doctype html><meta charset="utf-8"><title>Growth</title><style>${STYLE}</style>${plots.join("\n")}\n`
    )
    console.log(`The plots are in ${values.plots}.`)
  }
  return !values.assert || rows.every(({ reached }) => reached)
}
