// npm run bench -- <name> [options]: each benchmark measures the service against another way to do the same work, or against itself.
// Each is loaded only when it is asked for: what the others need would weigh on its memory.
const benchmarks: Readonly<Record<string, (args: ReadonlyArray<string>) => Promise<boolean>>> = {
  http: async (args) => (await import("./http/compareHttp.js")).compareHttp(args),
  create: async (args) => (await import("./create/compareCreate.js")).compareCreate(args),
  hostile: async (args) => (await import("./hostile/compareHostile.js")).compareHostile(args),
  growth: async (args) => (await import("./growth/compareGrowth.js")).compareGrowth(args),
  deliver: async (args) => (await import("./deliver/compareDeliver.js")).compareDeliver(args),
  rolling: async (args) => (await import("./rolling/compareRolling.js")).compareRolling(args),
  fast: async (args) => (await import("./fast/measureFast.js")).measureFast(args),
  alike: async (args) => (await import("./alike/compareAlike.js")).compareAlike(args),
  import: async (args) => (await import("./import/measureImport.js")).measureImport(args),
  start: async (args) => (await import("./start/measureStart.js")).measureStart(args)
}

const [name, ...args] = process.argv.slice(2)
const benchmark = name === undefined ? undefined : benchmarks[name]
if (benchmark === undefined) {
  console.error(`Name a benchmark: npm run bench -- ${Object.keys(benchmarks).join("|")}`)
  process.exitCode = 1
} else if (!(await benchmark(args))) process.exitCode = 1
