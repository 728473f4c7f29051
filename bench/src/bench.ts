// npm run bench runs all benchmarks and writes their results to bench/results. npm run bench -- <name> [options] runs
// one of them. Each compares the service with another way to do the same work, or with itself under other conditions.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { argumentsOf, type Benchmark, helpOf, holds, type Report, shownBound } from "./report/Benchmark.js"

// A benchmark's module is loaded only when it runs, because other modules would add to its memory.
const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  http: async () => (await import("./http/compareHttp.js")).http,
  create: async () => (await import("./create/compareCreate.js")).create,
  deliver: async () => (await import("./deliver/compareDeliver.js")).deliver,
  delivery: async () => (await import("./deliver/splitDelivery.js")).splitDelivery,
  growth: async () => (await import("./growth/compareGrowth.js")).growth,
  sizes: async () => (await import("./sizes/compareSizes.js")).sizes,
  life: async () => (await import("./life/measureLife.js")).life,
  alike: async () => (await import("./alike/compareAlike.js")).alike,
  hostile: async () => (await import("./hostile/compareHostile.js")).hostile,
  import: async () => (await import("./import/measureImport.js")).imports,
  memory: async () => (await import("./memory/measureMemory.js")).memory,
  start: async () => (await import("./start/measureStart.js")).start,
  cells: async () => (await import("./cells/compareCells.js")).cells,
  saves: async () => (await import("./cells/compareSaves.js")).saves,
  fleet: async () => (await import("./fleet/compareFleet.js")).fleet,
  statements: async () => (await import("./statements/measureStatements.js")).statements,
  parts: async () => (await import("./parts/measureParts.js")).parts,
  fast: async () => (await import("./fast/measureFast.js")).fast,
  rolling: async () => (await import("./rolling/compareRolling.js")).rolling
}

const refuse = (message: string): void => {
  console.error(message)
  process.exitCode = 1
}

const print = ({ rows, table, faults = [] }: Report): void => {
  console.table(
    rows.map((row) => ({
      work: row.work,
      ours: `${row.ours} ${row.unit}`.trim(),
      ...(row.peer === undefined ? {} : { other: `${row.peer} ${row.unit}`.trim(), "the other is": row.peer_is }),
      ...(row.ratio === undefined ? {} : { ratio: row.ratio }),
      ...(row.cpu_ratio === undefined ? {} : { "by CPU time": row.cpu_ratio }),
      target: shownBound(row.target),
      reached: row.target === undefined ? "" : holds(row, row.target)
    }))
  )
  if (table !== undefined)
    console.table(table.rows.map((row) => Object.fromEntries(table.head.map((name, i) => [name, row[i]]))))
  for (const fault of faults.slice(0, 20)) console.log(`fault: ${fault}`)
}

const runOne = async (name: string, benchmark: Benchmark, args: ReadonlyArray<string>): Promise<void> => {
  let asked: ReturnType<typeof argumentsOf>
  try {
    asked = argumentsOf(benchmark, args)
  } catch (error) {
    return refuse(`${error instanceof TypeError ? error.message : String(error)}\n\n${helpOf(name, benchmark)}`)
  }
  if (asked.isHelp) return console.log(helpOf(name, benchmark))
  const lacks = benchmark.missing?.() ?? null
  if (lacks !== null) return refuse(lacks)
  const report = await benchmark.run(asked.values)
  print(report)
  if (asked.json !== "") {
    mkdirSync(dirname(asked.json), { recursive: true })
    writeFileSync(asked.json, JSON.stringify(report))
  }
  const { rows, faults = [] } = report
  const isMissed = rows.some((row) => row.target !== undefined && !holds(row, row.target))
  if (faults.length > 0 || (asked.isAsserting && isMissed)) process.exitCode = 1
}

const [name, ...args] = process.argv.slice(2)
const known = name === undefined ? undefined : benchmarks[name]
if (known !== undefined) await runOne(name!, await known(), args)
else if (name === undefined || name.startsWith("-")) {
  const { runAll } = await import("./report/runAll.js")
  await runAll(benchmarks, process.argv.slice(2)).catch((error: unknown) => refuse(String(error)))
} else refuse(`There is no benchmark ${name}. Name one of ${Object.keys(benchmarks).join(", ")}; or none, to run all.`)
