import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { median } from "../Median.js"
import type { Table } from "../report/Benchmark.js"

const root = new URL("../../../", import.meta.url)

const jsonOf = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), "utf8"))

/** A module that users of a package import. */
interface Entry {
  readonly name: string
  readonly url: string
}

/** The exports of the published packages, in the order of their names. */
const publicEntries = (): ReadonlyArray<Entry> => {
  const { workspaces } = jsonOf("package.json") as { readonly workspaces: ReadonlyArray<string> }
  const folders = workspaces.filter((folder) => folder.startsWith("packages/"))
  const entries = folders.flatMap((folder) => {
    const { name, exports } = jsonOf(`${folder}/package.json`) as {
      readonly name: string
      readonly exports: Readonly<Record<string, { readonly default?: string }>>
    }
    return Object.entries(exports).flatMap(([entry, { default: file }]) =>
      file === undefined || entry.startsWith("./internal")
        ? []
        : [{ name: `${name}${entry.slice(1)}`, url: new URL(`${folder}/${file.slice(2)}`, root).href }]
    )
  })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A program that imports a module, and prints the duration and the processor time in milliseconds. */
const PROGRAM = `const [began, before] = [performance.now(), process.cpuUsage()]
await import(process.argv[1])
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify([performance.now() - began, (user + system) / 1000]))
process.exit(0)`

const imported = async (url: string): Promise<readonly [took_ms: number, processor_ms: number]> => {
  const cwd = fileURLToPath(root)
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM, url], { cwd })
  return JSON.parse(stdout)
}

/**
 * Measures `import()` of each public entry in a new process. The rows have the medians, after one import that reads the
 * files.
 */
export const importCosts = async (times: number): Promise<Table> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const { name, url } of publicEntries()) {
    await imported(url)
    const costs: Array<readonly [number, number]> = []
    for (let i = 0; i < times; i++) costs.push(await imported(url))
    const [took_ms, processor_ms] = [median(costs.map(([took]) => took)), median(costs.map(([, used]) => used))]
    rows.push([name, `${Math.round(took_ms)} ms`, `${Math.round(processor_ms)} ms`])
  }
  return { head: ["public entry", "import()", "processor time"], rows }
}
