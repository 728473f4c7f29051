// npm run bench -- <name> [options]: each benchmark measures the service against another way to do the same work.
import { compareHttp } from "./http/compareHttp.js"

const benchmarks: Readonly<Record<string, (args: ReadonlyArray<string>) => Promise<boolean>>> = { http: compareHttp }

const [name, ...args] = process.argv.slice(2)
const benchmark = name === undefined ? undefined : benchmarks[name]
if (benchmark === undefined) {
  console.error(`Name a benchmark: npm run bench -- ${Object.keys(benchmarks).join("|")}`)
  process.exitCode = 1
} else if (!(await benchmark(args))) process.exitCode = 1
