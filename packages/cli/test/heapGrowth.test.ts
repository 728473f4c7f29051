import { spawnSync } from "node:child_process"
import { afterAll, beforeAll, expect, it } from "vitest"
import { boundHeapGrowth } from "../src/serve/heapGrowth.js"
import { build, Workshop } from "./Workshop.js"

const LONG = { timeout: 120_000 }
const MIB = 2 ** 20

beforeAll(build, 120_000)

/**
 * The largest heap, in MiB, of a process with the V8 flags `flags` that keeps 32 MiB alive and makes 600 MiB of garbage
 * through a queue of 24 MiB.
 */
const growing = (flags: string): number => {
  const script = `
    for (const flag of ${flags}) require("node:v8").setFlagsFromString(flag)
    const make = () => new Array(127).fill(0.5)
    const kept = Array.from({ length: 32 * 1024 }, make)
    const queue = Array.from({ length: 24 * 1024 })
    let most = 0
    for (let i = 0; i < 600 * 1024; i++) {
      queue[i % queue.length] = make()
      if (i % 1024 === 0) most = Math.max(most, process.memoryUsage().heapTotal)
    }
    console.log(most + 0 * kept.length)`
  return Number(spawnSync(process.execPath, ["-e", script], { encoding: "utf8" }).stdout) / MIB
}

it("the flags of boundHeapGrowth keep the heap of a process with much garbage smaller", LONG, () => {
  const flags: Array<string> = []
  // The flags are only collected, because setting them would change the process of all tests.
  boundHeapGrowth((flag) => flags.push(flag))
  expect(growing(JSON.stringify(flags))).toBeLessThan(growing("[]"))
})

const SHOWN = `import v8 from "node:v8"; import { syncBuiltinESMExports } from "node:module"
v8.setFlagsFromString = (flag) => console.log("V8 is told " + flag); syncBuiltinESMExports()`

const started: Array<Workshop> = []
afterAll(() => {
  for (const workshop of started) workshop.kill("SIGKILL")
})

it("`workshop serve` bounds the growth of its heap without a flag", LONG, async () => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(SHOWN)}`
  const workshop = new Workshop(["serve"], { WORKSHOP_PORT: "0", WORKSHOP_STORE: "memory", NODE_OPTIONS })
  started.push(workshop)
  await workshop.says(/V8 is told --heap-growing-percent=\d+/)
})
