// The tables of bench/results for README.md and docs/performance.md.
import { existsSync, readFileSync } from "node:fs"
import { LIFE_WORKS, READS, WRITES } from "../bench/dist/life/Life.js"
import { Policies } from "../packages/core/dist/domain/Limits.js"

/** @typedef {import("../bench/dist/report/Benchmark.js").Row} Row */
/** @typedef {import("../bench/dist/report/Benchmark.js").Bound} Bound */
/** @typedef {{ took_s: number, date: string, machine: { cpu: string, cores: number, memory_gib: number, system: string, node: string }, rows: Row[], plots: string[], load_before?: number, table?: { head: string[], rows: string[][] } }} Result */

const NAMES = [
  "http",
  "create",
  "deliver",
  "delivery",
  "growth",
  "sizes",
  "life",
  "alike",
  "hostile",
  "import",
  "memory",
  "start",
  "parts",
  "fast",
  "cells",
  "saves"
]

/** @param {string} name @returns {Result | undefined} */
const resultOf = (name) => {
  const file = `bench/results/${name}.json`
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
}

/** @type {ReadonlyArray<readonly [string, Result]>} */
const results = NAMES.flatMap((name) => {
  const result = resultOf(name)
  return result === undefined ? [] : [/** @type {const} */ ([name, result])]
})

/** @param {Bound | undefined} bound */
const bounded = (bound) => {
  if (bound === undefined) return ""
  return "at_least" in bound ? `≥ ${bound.at_least}` : `≤ ${bound.at_most.toLocaleString("en-US")}`
}

/** @param {number | undefined} value @param {Bound | undefined} bound */
const isWithin = (value, bound) =>
  bound === undefined || value === undefined || ("at_least" in bound ? value >= bound.at_least : value <= bound.at_most)

/** @param {Row} row @param {Bound | undefined} bound */
const isKept = ({ ours, ratio, cpu_ratio }, bound) =>
  isWithin(ratio ?? cpu_ratio ?? ours, bound) && isWithin(cpu_ratio, bound)

/** A number, in bold if it misses its bound. @param {number | undefined} n @param {boolean} isFine */
const shown = (n, isFine) => {
  if (n === undefined) return ""
  const text = n.toLocaleString("en-US", { maximumFractionDigits: 3 })
  return isFine ? text : `**${text}**`
}

/** @param {Row} row @param {number | undefined} n */
const measured = (row, n) => (n === undefined ? "" : `${shown(n, true)}${row.unit === "" ? "" : ` ${row.unit}`}`)

/** The comparisons with other programs, for README.md: a head and rows. */
export const ratios = () => ({
  head: ["work", "compared with", "ratio", "by CPU time", "goal", "command"],
  rows: results
    .filter(([name]) => ["http", "create", "deliver"].includes(name))
    .flatMap(([name, { rows }]) =>
      rows
        .filter(({ ratio }) => ratio !== undefined)
        .map((row) => [
          row.work,
          row.peer_is ?? "",
          shown(row.ratio, isWithin(row.ratio, row.goal ?? row.target)),
          shown(row.cpu_ratio, isWithin(row.cpu_ratio, row.goal ?? row.target)),
          bounded(row.goal ?? row.target),
          `\`npm run bench -- ${name}\``
        ])
    )
})

/** When and where the results were measured, in a sentence. */
export const measuredOn = () => {
  const [, first] = results[0] ?? []
  if (first === undefined) return ""
  const { machine } = first
  const dates = [...new Set(results.map(([, { date }]) => date))].join(" and ")
  const together = results.filter(([name]) => name !== "cells" && name !== "saves")
  const took = Math.round(together.reduce((sum, [, { took_s }]) => sum + took_s, 0) / 60)
  return `\`npm run bench\` measured these results on ${dates} in ${took} minutes, on ${machine.cores} cores (${machine.cpu}) with ${machine.memory_gib} GiB, ${machine.system}, Node ${machine.node}; the load generator and the other programs run on the same machine.`
}

/**
 * The files that exist only for speed, and the plain way that each replaces. `npm run bench -- fast` measures most of
 * them.
 */
const SPEED_FILES = {
  "core/src/fast/QuickReader.ts": "decoding a request by its schema",
  "core/src/fast/isoText.ts": "`Date.toISOString`",
  "core/src/fast/pooledBytes.ts": "a call of the system's random source for each id",
  "http-node/src/fast/markLogs.ts": "`Effect.annotateLogs`",
  "store-pg/src/fast/combineStatements.ts": "one insert or update for each table of a batch",
  "store-pg/src/fast/PreparedTexts.ts":
    "`@effect/sql-pg`, which does not name statements, so that the server parses and plans each read again",
  "store-pg/src/fast/drainInput.ts":
    "starting a batch as soon as the first request was read, which makes batches of one command"
}

/** The work of `npm run bench -- saves` that measures a single file, and its description on the page. */
const SAVES = /** @type {Readonly<Record<string, { work: string, of: string }>>} */ ({
  "store-pg/src/fast/combineStatements.ts": {
    work: "save and commit of a batch, p50, 25 creates, one plain Postgres",
    of: "the save and commit of 25 creates on a plain Postgres"
  }
})

/** The savings of files that no benchmark measures alone: of runs with and without each, two or three of either, on 27 November 2026. */
const MEASURED_BY_HAND = /** @type {Readonly<Record<string, string>>} */ ({
  "store-pg/src/fast/PreparedTexts.ts":
    "0.15 ms in place of 0.50 ms of the server's processor time for a read, in `npm run bench -- life` with and without the names",
  "store-pg/src/fast/drainInput.ts":
    "145 µs in place of 155 µs of the process's processor time for a delivery, in `npm run bench -- delivery` with and without it"
})

/** The row of a benchmark that measures a single file, and its work. @param {string} file */
const measuredAlone = (file) => {
  const saves = SAVES[file]
  const { rows = [] } = resultOf(saves === undefined ? "fast" : "saves") ?? {}
  const row = rows.find(({ work }) => (saves === undefined ? work.startsWith(`${file}: `) : work === saves.work))
  return row && { row, of: saves?.of ?? row.work.slice(file.length + 2) }
}

/** The table of the code that exists only for speed: a head and rows, with the saving if a benchmark measures the file. */
export const speedCode = () => {
  return {
    head: ["file", "instead of", "measured"],
    rows: Object.entries(SPEED_FILES).map(([file, plain]) => {
      const alone = measuredAlone(file)
      const saved =
        alone &&
        `${measured(alone.row, alone.row.ours)} in place of ${measured(alone.row, alone.row.peer)} for ${alone.of}`
      return [`\`${file}\``, plain, saved ?? MEASURED_BY_HAND[file] ?? "by no benchmark"]
    })
  }
}

/**
 * The capacity of a machine in lives of tickets, from the results of `npm run bench -- life`, and the part that uses
 * most of it.
 * @param {(head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => string} table
 * @param {{ hours: number }} day
 */
export const capacity = (table, { hours }) => {
  const rows = resultOf("life")?.rows
  if (rows === undefined) return "`npm run bench -- --only life` has not been run yet."
  /** @param {string} begin */
  const of = (begin) => rows.find(({ work }) => work.startsWith(begin))?.ours ?? Number.NaN
  /** @param {string} part */
  const costs = (part) => ({
    service: of(`${LIFE_WORKS.service}, ${part}`),
    servers: of(`${LIFE_WORKS.servers}, ${part}`)
  })
  const parts = [
    { name: "writes", times: WRITES, ...costs("a write") },
    { name: "deliveries", times: WRITES, ...costs("a delivery") },
    { name: "reads", times: READS, ...costs("a read") }
  ].map((one) => ({ ...one, all: one.times * (one.service + one.servers) }))
  const sum = parts.reduce((total, { all }) => total + all, 0)
  const busiest = parts.reduce((a, b) => (b.all > a.all ? b : a))
  const whole = costs("a life of a ticket")
  const [rate, perShop] = [of(LIFE_WORKS.rate), Policies.tickets_per_day.limit]
  const tickets = Math.floor(rate * hours * 3_600)
  /** @param {number} n */
  const counted = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 2 })
  return [
    `The machine handled the whole lives of ${counted(rate)} tickets a second. In a day of ${hours} hours that is ${counted(tickets)} tickets: those of ${counted(Math.floor(tickets / perShop))} shops with ${perShop} tickets a day.`,
    table(
      [
        "part",
        "in a ticket's life",
        "CPU time of the service, each",
        "CPU time of Postgres, each",
        "share of a life's CPU time"
      ],
      parts.map(({ name, times, service, servers, all }) => [
        name,
        String(times),
        `${counted(service)} ms`,
        `${counted(servers)} ms`,
        `${Math.round((all / sum) * 100)} %`
      ])
    ),
    `The ${busiest.name} are the bottleneck, because they take the largest share of the CPU time. A whole life takes ${counted(whole.service)} ms of CPU time in the service's process and ${counted(whole.servers)} ms in Postgres. One process, which uses one core, therefore handles at most ${counted(1_000 / whole.service)} lives a second.`
  ].join("\n\n")
}

/** @param {string} plot */
const picture = (plot) => `![${plot.replace(".svg", "").replaceAll("-", " ")}](../bench/results/${plot})`

/** A note if other work ran during a benchmark. @param {Result} result */
const busy = ({ load_before }) =>
  load_before === undefined
    ? ""
    : ` The machine was busy with other work (load average ${load_before}), so compare only the values of this run with each other.`

/**
 * The simulation of fleets, for docs/scaling.md.
 * @param {(head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => string} table
 */
export const fleets = (table) => {
  const result = resultOf("fleet")
  if (result?.table === undefined) return ""
  const { head, rows } = result.table
  const costs = result.rows.map((row) => [row.work, measured(row, row.ours)])
  return [
    table(head, rows),
    ...result.plots.map(picture),
    "The simulation uses these costs:",
    table(["work", "cost"], costs)
  ].join("\n\n")
}

/**
 * All results, a section for each benchmark.
 * @param {(head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => string} table
 */
export const sections = (table) =>
  results
    .map(([name, result]) => {
      const { rows, plots, took_s } = result
      const hasPeer = rows.some(({ peer }) => peer !== undefined)
      const head = hasPeer
        ? ["work", "ours", "other", "the other is", "ratio", "by CPU time", "target", "goal"]
        : ["work", "result", "target"]
      const lines = rows.map((row) => {
        const isFine = isKept(row, row.target)
        if (!hasPeer)
          return [row.work, isFine ? measured(row, row.ours) : `**${measured(row, row.ours)}**`, bounded(row.target)]
        return [
          row.work,
          row.ratio === undefined && !isFine ? `**${measured(row, row.ours)}**` : measured(row, row.ours),
          measured(row, row.peer),
          row.peer_is ?? "",
          shown(row.ratio, isFine),
          shown(row.cpu_ratio, isFine),
          bounded(row.target),
          bounded(row.goal)
        ]
      })
      const took = `\`npm run bench -- ${name}\` took ${took_s} s.${busy(result)}`
      const more = result.table === undefined ? [] : [table(result.table.head, result.table.rows)]
      return [`### ${name}`, took, table(head, lines), ...more, ...plots.map(picture)].join("\n\n")
    })
    .join("\n\n")
