import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { memoryOf } from "../endurance/Probe.js"
import { fuzzParsers, fuzzService } from "./fuzz.js"
import { Grammar } from "./Grammar.js"
import { fuzzSocket } from "./sockets.js"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    /** In place of the minutes: how many inputs, nine tenths of them texts, and one in a hundred a piece of HTTP. */
    inputs: { type: "string" },
    seed: { type: "string", default: "1" }
  }
})
const seed = Number(values.seed)
const share_ms = values.inputs === undefined ? (Number(values.minutes) * 60_000) / 3 : Number.POSITIVE_INFINITY
const inputs = values.inputs === undefined ? Number.POSITIVE_INFINITY : Number(values.inputs)
const document = JSON.parse(readFileSync("openapi.json", "utf8"))
const found: Array<string> = []
const counts = { parsers: 0, requests: 0, sockets: 0 }

/** Does rounds of a part until its time is over, or its share of the inputs was given. */
const rounds = async (
  part: keyof typeof counts,
  share: number,
  round: (no: number) => Promise<void>
): Promise<void> => {
  const end = performance.now() + share_ms
  for (let no = 0; performance.now() < end && counts[part] < inputs * share && found.length < 20; no++) await round(no)
}

await rounds("parsers", 0.9, async (no) => {
  const { inputs, found: wrong } = await fuzzParsers(seed * 1000 + no, 20_000)
  counts.parsers += inputs
  found.push(...wrong)
})
const heapBefore = process.memoryUsage().rss / 2 ** 20
await rounds("requests", 0.09, async (no) => {
  const { inputs, found: wrong } = await fuzzService(seed * 1000 + no, 5000, document)
  counts.requests += inputs
  found.push(...wrong)
})
const heapAfter = process.memoryUsage().rss / 2 ** 20

const server = spawn(
  process.execPath,
  ["packages/cli/bin/workshop.js", "serve", "--sandbox", "--store", "memory", "--port", "0"],
  { stdio: ["ignore", "pipe", "ignore"] }
)
const port = await new Promise<number>((resolve) => {
  let said = ""
  server.stdout.on("data", (data) => {
    said += data
    const [, at] = /^Listening on http:\/\/\S+:(\d+)$/m.exec(said) ?? []
    if (at !== undefined) resolve(Number(at))
  })
})
const grammar = new Grammar(seed)
const before = memoryOf(server.pid) ?? 0
await rounds("sockets", 0.01, async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => fuzzSocket(grammar, port)))
  counts.sockets += answers.length
  for (const wrong of answers) if (wrong !== null) found.push(wrong)
})
const alive = await fetch(`http://127.0.0.1:${port}/healthz`).then(
  ({ status }) => status === 200,
  () => false
)
const after = memoryOf(server.pid) ?? 0
server.kill()
if (!alive) found.push("the server does not answer any more")
console.log(`${counts.parsers} texts, ${counts.requests} requests, ${counts.sockets} pieces of HTTP.`)
console.log(
  `Memory: ${heapBefore.toFixed(0)} to ${heapAfter.toFixed(0)} MiB with the service in process, the server ${before} to ${after} MiB.`
)
for (const wrong of found) console.error(`found: ${wrong.slice(0, 600)}`)
process.exit(found.length > 0 ? 1 : 0)
