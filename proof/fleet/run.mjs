// Simulates the whole service with several nodes, seed after seed: `npm run simulate`. See docs/reliability.md.
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { plantingBuild } from "../planted/build.mjs"
import { root } from "../planted/plant.mjs"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1000" },
    from: { type: "string" },
    steps: { type: "string", default: "80" },
    only: { type: "string" },
    long: { type: "boolean", default: false },
    hours: { type: "string", default: "8" }
  }
})

const program = `${root}.workshop/simulate/main.mjs`
mkdirSync(`${root}.workshop/simulate`, { recursive: true })
const build = await plantingBuild(`${root}proof/fleet/main.ts`, program)
await build.with(null)
await build.end()

/** @typedef {{ seed: number, digest: string, breaches: { rule: string, what: string }[], requests: number, deliveries: number, commits: number }} Played */

/** @param {string[]} words @param {(line: any) => void} onLine @returns {Promise<number | null>} */
const start = (words, onLine) =>
  new Promise((resolve) => {
    // Most objects of a run are short-lived. A larger young generation reduces the time of the garbage collector by a
    // third.
    const child = spawn(process.execPath, ["--max-semi-space-size=64", program, ...words], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const stop = () => child.kill()
    process.once("SIGINT", stop)
    let rest = ""
    child.stdout.on("data", (data) => {
      const lines = (rest + data).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) onLine(JSON.parse(line))
    })
    child.on("close", (code) => {
      process.off("SIGINT", stop)
      resolve(code)
    })
  })

const again = (/** @type {number} */ seed) => `npm run simulate -- --seed ${seed} --steps ${values.steps}`

const one = values.seed === undefined ? null : Number(values.seed)
const first = one ?? (values.from !== undefined ? Number(values.from) : values.long ? randomInt(2 ** 31) : 1)
const total = one !== null ? 1 : values.long ? Number.MAX_SAFE_INTEGER : Number(values.seeds)
const workers = Math.min(availableParallelism(), total)
const began = performance.now()
const ends_at = values.long ? began + Number(values.hours) * 3_600_000 : Number.POSITIVE_INFINITY
const sums = { seeds: 0, requests: 0, deliveries: 0, commits: 0 }
/** @type {Played[]} */
const broken = []
/** @type {Set<number>} */
const stopped = new Set()

/** @param {Played} played */
const note = (played) => {
  sums.seeds++
  for (const name of /** @type {const} */ (["requests", "deliveries", "commits"])) sums[name] += played[name]
  if (one !== null) console.log(`Seed ${played.seed}: digest ${played.digest}`)
  if (played.breaches.length === 0) return
  broken.push(played)
  console.error(`Seed ${played.seed} breaks ${played.breaches.length} rules. Repeat it: ${again(played.seed)}`)
  for (const { rule, what } of played.breaches.slice(0, 5)) console.error(`  ${rule}: ${what}`)
}

const BATCH = 250
await Promise.all(
  Array.from({ length: workers }, async (_, worker) => {
    for (
      let done = worker;
      done < total && performance.now() < ends_at && broken.length < 10;
      done += workers * BATCH
    ) {
      const count = Math.min(BATCH, Math.ceil((total - done) / workers))
      const words = [
        "--from",
        String(first + done),
        "--every",
        String(workers),
        "--count",
        String(count),
        "--steps",
        values.steps
      ]
      const code = await start(values.only === undefined ? words : [...words, "--only", values.only], note)
      if (code !== 0) return void stopped.add(code ?? -1)
    }
  })
)

const worst = broken[0]
if (worst !== undefined && values.only === undefined) {
  const { rule } = worst.breaches[0] ?? { rule: "" }
  console.error(`Looking for the fewest steps of seed ${worst.seed} that still break ${rule} …`)
  await start(
    ["--from", String(worst.seed), "--steps", values.steps, "--shrink", rule],
    ({ left, script, breaches }) => {
      for (const step of script) console.error(`  ${step.does} ${step.picks.join(" ")}, then ${step.then_ms} ms`)
      for (const { rule, what } of breaches) console.error(`  ${rule}: ${what}`)
      console.error(`Repeat these ${left.length} steps: ${again(worst.seed)} --only ${left.join(",")}`)
    }
  )
}
const seconds = (performance.now() - began) / 1000
console.log(
  `${sums.seeds} seeds in ${seconds.toFixed(0)} s: ${sums.requests} requests, ${sums.commits} commits, ${sums.deliveries} deliveries; ${broken.length} seeds broke a rule.`
)
process.exitCode = broken.length > 0 || stopped.size > 0 ? 1 : 0
