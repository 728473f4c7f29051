import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Flat, grown } from "../endurance/judgeSoak.js"
import { memoryOf } from "../endurance/Probe.js"
import { quantile } from "../quantile.js"
import { fuzzParsers, fuzzService } from "./fuzz.js"
import { Grammar } from "./Grammar.js"
import { fuzzSocket } from "./sockets.js"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    /** The number of inputs, in place of the minutes: 90 % texts for parsers, 9 % requests and 1 % raw HTTP. */
    inputs: { type: "string" },
    seed: { type: "string", default: "1" }
  }
})
const seed = Number(values.seed)
const share_ms = values.inputs === undefined ? (Number(values.minutes) * 60_000) / 3 : Number.POSITIVE_INFINITY
const inputs = values.inputs === undefined ? Number.POSITIVE_INFINITY : Number(values.inputs)
const document = JSON.parse(readFileSync("openapi.json", "utf8"))
const errors: Array<string> = []
const counts = { parsers: 0, requests: 0, sockets: 0 }

const sixthsOf = (all: ReadonlyArray<number>) =>
  Array.from({ length: 6 }, (_, no) =>
    quantile(all.slice((no * all.length) / 6, Math.max(((no + 1) * all.length) / 6, 1)), 0.5)
  )

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/**
 * The memory of this process after a garbage collection, in MiB. It must not grow, because each round creates a new
 * service.
 */
const held = () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return mib(heapUsed + external)
}
const mib = (bytes: number) => Math.round(bytes / 104_857.6) / 10

const FLAT: Flat<number> = { name: "", unit: "MiB", of: (used) => used, share: 0.1, slack: 4 }
/** The bounds for the server's memory, which includes garbage of a heap of up to 64 MiB. */
const SERVER_FLAT: Flat<number> = { ...FLAT, share: 0.2, slack: 16 }
const memory: Record<keyof typeof counts, Array<number>> = { parsers: [], requests: [], sockets: [] }

/** Runs rounds of a part until its time is over or its share of the inputs is used. */
const rounds = async (
  part: keyof typeof counts,
  share: number,
  round: (no: number) => Promise<void>
): Promise<void> => {
  const end = performance.now() + share_ms
  for (let no = 0; performance.now() < end && counts[part] < inputs * share && errors.length < 20; no++) await round(no)
}

await rounds("parsers", 0.9, async (no) => {
  const { inputs, errors: wrong } = await fuzzParsers(seed * 1000 + no, 20_000)
  counts.parsers += inputs
  memory.parsers.push(held())
  errors.push(...wrong)
})
await rounds("requests", 0.09, async (no) => {
  const { inputs, errors: wrong } = await fuzzService(seed * 1000 + no, 5000, document)
  counts.requests += inputs
  memory.requests.push(held())
  errors.push(...wrong)
})

const server = spawn(
  process.execPath,
  ["--max-old-space-size=64", "packages/cli/bin/workshop.js", "serve", "--sandbox", "--store", "memory", "--port", "0"],
  { stdio: ["ignore", "pipe", "ignore"] }
)
const port = await new Promise<number>((resolve) => {
  let output = ""
  server.stdout.on("data", (data) => {
    output += data
    const [, at] = /^Listening on http:\/\/\S+:(\d+)$/m.exec(output) ?? []
    if (at !== undefined) resolve(Number(at))
  })
})
const grammar = new Grammar(seed)
await rounds("sockets", 0.01, async (no) => {
  const results = await Promise.all(Array.from({ length: 40 }, () => fuzzSocket(grammar, port)))
  counts.sockets += results.length
  if (no % 25 === 24) memory.sockets.push(memoryOf(server.pid))
  for (const error of results) if (error !== null) errors.push(error)
})
const alive = await fetch(`http://127.0.0.1:${port}/healthz`).then(
  ({ status }) => status === 200,
  () => false
)
server.kill()
if (!alive) errors.push("the server no longer responds")
console.log(`${counts.parsers} texts, ${counts.requests} requests, ${counts.sockets} pieces of HTTP.`)
for (const [part, name, flat] of [
  ["parsers", "with the texts", FLAT],
  ["requests", "with the requests", FLAT],
  ["sockets", "of the server", SERVER_FLAT]
] as const) {
  const used = memory[part]
  if (used.length < 9) continue
  console.log(`Memory ${name}: ${sixthsOf(used).join(", ")} MiB, the medians of six parts.`)
  errors.push(...grown(used, { ...flat, name: `memory ${name}` }))
}
for (const error of errors) console.error(`found: ${error.slice(0, 600)}`)
process.exit(errors.length > 0 ? 1 : 0)
