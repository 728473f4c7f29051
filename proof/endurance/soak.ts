import { mkdirSync, writeFileSync } from "node:fs"
import { quantile } from "../quantile.js"
import type { Second } from "./Generator.js"
import { judgeSoak, thirds, uncleanFor, type Window } from "./judgeSoak.js"
import { inAll, type Sample, sample } from "./Probe.js"
import { type Chart, type Line, plot } from "./plot.js"
import { withTestbed } from "./Testbed.js"

/** The number of shops, with which an hour at 60 requests a second stays far below the limits of keys and shops. */
const SHOPS = 160
const MIB = 1024 * 1024
/** The number of tables in the plot of dead rows: the tables with the most. */
const TABLES = 6

const windowOf = (second: number, seconds: ReadonlyArray<Second>): Window => {
  const waits = seconds.flatMap((one) => Object.values(one.waits).flat())
  return {
    second,
    requests_per_s: waits.length / seconds.length,
    p50_ms: quantile(waits, 0.5),
    p99_ms: quantile(waits, 0.99)
  }
}

const line = <A extends { readonly second: number }>(
  label: string,
  all: ReadonlyArray<A>,
  of: (one: A) => number
): Line => ({
  label,
  points: all.map((one) => ({ second: one.second, value: of(one) }))
})

/** The tables with the most dead rows at any time. */
const dirtiest = (samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const max = new Map<string, number>()
  for (const { tables } of samples)
    for (const { name, dead_rows } of tables) max.set(name, Math.max(max.get(name) ?? 0, dead_rows))
  return [...max]
    .sort((a, b) => b[1] - a[1])
    .slice(0, TABLES)
    .map(([name]) => name)
}

const charts = (samples: ReadonlyArray<Sample>, windows: ReadonlyArray<Window>): ReadonlyArray<Chart> => [
  { name: "requests a second", lines: [line("", windows, (one) => one.requests_per_s)] },
  { name: "median (ms)", lines: [line("", windows, (one) => one.p50_ms)] },
  { name: "99th percentile (ms)", lines: [line("", windows, (one) => one.p99_ms)] },
  {
    name: "memory (MiB)",
    lines: [
      line("process", samples, (one) => one.node_mib),
      line("Postgres, not shared", samples, (one) => one.postgres_mib)
    ]
  },
  {
    name: "handles, connections",
    lines: [line("handles", samples, (one) => one.handles), line("to the database", samples, (one) => one.connections)]
  },
  {
    name: "tables, indexes (MiB)",
    lines: [
      line("tables", samples, (one) => inAll(one, "table_bytes") / MIB),
      line("indexes", samples, (one) => inAll(one, "index_bytes") / MIB)
    ]
  },
  {
    name: "bytes a row, with indexes",
    lines: [
      line(
        "",
        samples,
        (one) => (inAll(one, "table_bytes") + inAll(one, "index_bytes")) / Math.max(1, inAll(one, "rows"))
      )
    ]
  },
  {
    name: "dead rows",
    lines: dirtiest(samples).map((name) =>
      line(name, samples, ({ tables }) => tables.find((table) => table.name === name)?.dead_rows ?? 0)
    )
  }
]

const sum = (seconds: ReadonlyArray<Second>) => {
  const counts: Record<string, number> = {}
  for (const { waits } of seconds)
    for (const [outcome, list] of Object.entries(waits)) counts[outcome] = (counts[outcome] ?? 0) + list.length
  return counts
}

const report = (
  samples: ReadonlyArray<Sample>,
  windows: ReadonlyArray<Window>,
  seconds: ReadonlyArray<Second>
): void => {
  const median = (part: ReadonlyArray<number>) => quantile(part, 0.5).toFixed(1)
  const both = <A>(all: ReadonlyArray<A>, of: (one: A) => number) =>
    thirds(all)
      .map((part) => median(part.map(of)))
      .join(" → ")
  console.log(
    `Outcomes: ${JSON.stringify(sum(seconds))}; the generator sent at most ${Math.round(Math.max(...seconds.map(({ lag_ms }) => lag_ms)))} ms late.`
  )
  console.log("Medians of the second third → of the last:")
  console.log(
    `  responses: median ${both(windows, (one) => one.p50_ms)} ms, 99th percentile ${both(windows, (one) => one.p99_ms)} ms`
  )
  console.log(
    `  memory: process ${both(samples, (one) => one.node_mib)} MiB, Postgres ${both(samples, (one) => one.postgres_mib)} MiB`
  )
  console.log(
    `  handles ${both(samples, (one) => one.handles)}, connections to the database ${both(samples, (one) => one.connections)}`
  )
  console.log(
    `  tables ${both(samples, (one) => inAll(one, "table_bytes") / MIB)} MiB, indexes ${both(samples, (one) => inAll(one, "index_bytes") / MIB)} MiB, rows ${both(samples, (one) => inAll(one, "rows"))}`
  )
  console.log(
    "Dead rows: most, at the end, how many make autovacuum begin, how often it ran, the longest time above without it:"
  )
  for (const name of dirtiest(samples)) {
    const all = samples.flatMap(({ tables }) => tables.filter((table) => table.name === name))
    const last = all.at(-1)!
    console.log(
      `  ${name}: ${Math.max(...all.map(({ dead_rows }) => dead_rows))}, ${last.dead_rows}, ${last.vacuum_at}, ${last.vacuums}, ${uncleanFor(samples, name)} s`
    )
  }
}

/**
 * Sends a mixed load at a steady rate, and measures the resources of the node and its database, which must not grow.
 */
export const soak = (minutes: number, rate: number, folder: string): Promise<ReadonlyArray<string>> =>
  withTestbed(SHOPS, async ({ postgres, node, generator }) => {
    const total = Math.round(minutes * 60)
    const every_s = Math.max(2, Math.min(15, Math.floor(total / 40)))
    const samples: Array<Sample> = []
    const windows: Array<Window> = []
    let fresh: Array<Second> = []
    const seconds = await generator.during(total, { do: "steady", rate, greedy: 0 }, (second, index) => {
      fresh.push(second)
      if (index % every_s !== 0) return
      const one = sample(node, postgres, index)
      // The connections of the clients are subtracted, because the service does not determine their number.
      samples.push({ ...one, handles: one.handles - second.connections })
      windows.push(windowOf(index, fresh))
      fresh = []
    })
    generator.order({ do: "rest" })
    const title = `${minutes} minutes of ${rate} requests a second`
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/soak.json`, JSON.stringify({ samples, windows }))
    writeFileSync(`${folder}/soak.svg`, plot(title, charts(samples, windows)))
    console.log(title)
    report(samples, windows, seconds)
    console.log(`Plotted: ${folder}/soak.svg`)
    const failed = Object.entries(sum(seconds)).filter(([outcome]) => outcome !== "200" && outcome !== "201")
    return [
      ...judgeSoak(samples, windows),
      ...failed.map(([outcome, times]) => `${times} requests ended with ${outcome}`),
      ...seconds.flatMap(({ unexpected }) => unexpected).slice(0, 20)
    ]
  })
