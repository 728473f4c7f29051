import { parseArgs } from "node:util"
import { play, STEPS, shrink } from "./play.js"
import { scriptOf } from "./Script.js"

// Plays seeds one after another, and reports the rules that each broke. `run.mjs` starts one such process per
// processor.
const { values } = parseArgs({
  options: {
    from: { type: "string" },
    every: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    steps: { type: "string", default: String(STEPS) },
    only: { type: "string" },
    shrink: { type: "string" }
  }
})
const steps = Number(values.steps)
const only = values.only?.split(",").map(Number) ?? null
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

if (values.shrink !== undefined) {
  const seed = Number(values.from)
  const left = shrink(seed, steps, values.shrink)
  const script = scriptOf(seed, steps)
  say({ left, script: left.map((i) => script[i]), breaches: play(seed, steps, left).breaches })
} else {
  for (let i = 0; i < Number(values.count); i++) {
    const seed = Number(values.from) + i * Number(values.every)
    const { breaches, digest, history } = play(seed, steps, only)
    const { exchanges, receptions, commits } = history
    say({ seed, digest, breaches, requests: exchanges.length, deliveries: receptions.length, commits: commits.length })
  }
}
process.exit()
