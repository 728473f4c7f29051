import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem, type } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import type { Benchmark, Report } from "./Benchmark.js"
import { ratioPlot } from "./plot.js"

const RESULTS = fileURLToPath(new URL("../../results/", import.meta.url))

/** The description of this machine. */
const machine = () => ({
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  memory_gib: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.versions.node
})

/**
 * The benchmarks that run only by name: `rolling` needs a network and takes long, `cells` and `saves` need Citus and
 * take some minutes, and `fleet` needs the results of `cells`.
 */
const NOT_AMONG_ALL = ["rolling", "cells", "saves", "fleet"]

const runChild = (name: string, args: ReadonlyArray<string>, json: string): Promise<boolean> =>
  new Promise((resolve) => {
    const program = fileURLToPath(new URL("../bench.js", import.meta.url))
    const child = spawn(process.execPath, [program, name, ...args, "--json", json], { stdio: "inherit" })
    child.once("close", (status) => resolve(status === 0))
  })

const seconds = (since: number) => Math.round((performance.now() - since) / 1000)

/** Runs all benchmarks, each in its own process, and writes their results and plots to `bench/results`. */
export const runAll = async (
  benchmarks: Readonly<Record<string, () => Promise<Benchmark>>>,
  args: ReadonlyArray<string>
): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      help: { type: "boolean", default: false }
    }
  })
  if (values.help) {
    console.log(
      "npm run bench [-- --quick] [--only http,create]: runs all benchmarks, or some, and writes bench/results;"
    )
    console.log("--quick writes nothing.")
    console.log("npm run bench -- <name> --help: the options of one.\n")
    for (const [name, load] of Object.entries(benchmarks)) console.log(`  ${name.padEnd(10)}${(await load()).about}.`)
    return
  }
  const folder = values.quick ? mkdtempSync(join(tmpdir(), "workshop-bench-")) : RESULTS
  mkdirSync(folder, { recursive: true })
  const names =
    values.only === ""
      ? Object.keys(benchmarks).filter((name) => !NOT_AMONG_ALL.includes(name))
      : values.only.split(",")
  const unknown = names.find((name) => benchmarks[name] === undefined)
  if (unknown !== undefined)
    throw new Error(`There is no benchmark ${unknown}: --only takes ${Object.keys(benchmarks).join(", ")}`)
  const begun = performance.now()
  for (const [i, name] of names.entries()) {
    const { args, missing } = await benchmarks[name]!()
    const lacks = missing?.() ?? null
    if (lacks !== null) {
      console.error(`[${i + 1}/${names.length}] ${name} is skipped. ${lacks}`)
      continue
    }
    const file = join(folder, `${name}.json`)
    const started = performance.now()
    // The load is read before the first benchmark, so that it shows only other work.
    const others = i === 0 ? Math.round(loadavg()[0]! * 10) / 10 : null
    console.error(`[${i + 1}/${names.length}] ${name}, after ${seconds(begun)} s`)
    if (!(await runChild(name, values.quick ? args.quick : args.usual, file))) process.exitCode = 1
    else
      write(folder, name, {
        took_s: seconds(started),
        date: new Date().toISOString().slice(0, 10),
        ...(others !== null && others >= 1 && { load_before: others })
      })
  }
  console.error(`All benchmarks took ${seconds(begun)} s.`)
  if (values.quick) rmSync(folder, { recursive: true })
  else
    console.log("The results are in bench/results. npm run codegen writes them into README.md and docs/performance.md.")
}

/** Writes a benchmark's plots and its results, with the machine and the date. */
const write = (
  folder: string,
  name: string,
  run: { readonly took_s: number; readonly date: string; readonly load_before?: number }
): void => {
  const file = join(folder, `${name}.json`)
  const { rows, table, plots = [] } = JSON.parse(readFileSync(file, "utf8")) as Report
  const bars = rows.flatMap(({ work, ratio, unit }) =>
    ratio === undefined || unit !== "/s" ? [] : [{ label: work, ratio }]
  )
  const all = bars.length === 0 ? plots : [...plots, ratioPlot(`${name}-ratios`, "Rates, divided by the other's", bars)]
  for (const plot of all) writeFileSync(join(folder, `${plot.name}.svg`), plot.svg)
  const result = {
    ...run,
    machine: machine(),
    rows,
    ...(table && { table }),
    plots: all.map(({ name }) => `${name}.svg`)
  }
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
}
