import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { memoryOf } from "../endurance/Probe.js"
import { fuzzParsers, fuzzService } from "./fuzz.js"
import { Grammar } from "./Grammar.js"
import { fuzzSocket } from "./sockets.js"

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } }
})
const seed = Number(values.seed)
const share_ms = (Number(values.minutes) * 60_000) / 3
const document = JSON.parse(readFileSync("openapi.json", "utf8"))
const found: Array<string> = []
const counts = { parsers: 0, requests: 0, sockets: 0 }

const until = async (ms: number, round: (no: number) => Promise<void>): Promise<void> => {
  const end = performance.now() + ms
  for (let no = 0; performance.now() < end && found.length < 20; no++) await round(no)
}

await until(share_ms, async (no) => {
  const { inputs, found: wrong } = await fuzzParsers(seed * 1000 + no, 20_000)
  counts.parsers += inputs
  found.push(...wrong)
})
const heapBefore = process.memoryUsage().rss / 2 ** 20
await until(share_ms, async (no) => {
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
await until(share_ms, async () => {
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
