import { parseArgs } from "node:util"
import { torture } from "./torture.js"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    short: { type: "boolean", default: false }
  }
})
const began = Date.now()
const say = (line: string) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}`)
const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort())
const { violations, faults, ...counts } = await torture({
  seconds: Number(values.minutes) * 60,
  seed: Number(values.seed),
  isShort: values.short,
  say,
  signal: stop.signal
}).catch((error: Error) => ({ violations: [error.message], faults: {} }))
console.log(JSON.stringify(counts))
console.log(
  Object.entries(faults)
    .map(([name, times]) => `${times} × ${name}`)
    .join(", ")
)
for (const violation of violations.slice(0, 30)) console.error(`violated: ${violation}`)
console.log(`${violations.length} invariants were violated.`)
process.exit(violations.length > 0 ? 1 : 0)
