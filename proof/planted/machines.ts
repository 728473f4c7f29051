import { runContract } from "@workshop/core/testing"
import * as MemoryStore from "@workshop/store-memory"
import { runCases, suite } from "@workshop/testers/conform"
import { Effect } from "effect"
import { audit } from "../../packages/testers/src/simulate/auditor/audit.js"
import { Api } from "../../packages/testers/src/testkit/Api.js"
import { inProcess } from "../../packages/testers/test/conform/InProcess.js"
import { runSimulation } from "../../packages/testers/test/simulate/runSimulation.js"
import { play } from "../fleet/play.js"

/** The first error that a machine found, or null, and the number of seeds that it ran, if it has seeds. */
interface Finding {
  readonly what: string | null
  readonly seeds: number | null
}

/** A way to find bugs, such as a simulation. */
interface Machine {
  readonly name: string
  readonly run: () => Promise<Finding>
}

/** The largest number of seeds that a simulation runs for one bug. */
const MAX_SEEDS = Number(process.env.PLANTED_SEEDS ?? 60)

/** Runs seeds one after another until one finds an error. */
const seeded = async (find: (seed: number) => Promise<string | null>): Promise<Finding> => {
  for (let seed = 1; seed <= MAX_SEEDS; seed++) {
    const what = await find(seed).catch((error) => `the run failed: ${error}`)
    if (what !== null) return { what, seeds: seed }
  }
  return { what: null, seeds: MAX_SEEDS }
}

/** Runs the store contract on the memory store up to the first case that fails. */
const contract: Machine = {
  name: "contract",
  run: async () => {
    const cases: Array<readonly [string, () => Promise<void>]> = []
    const runner = {
      describe: (_: string, body: () => void) => body(),
      it: (name: string, body: () => Promise<void>) => cases.push([name, body]),
      afterAll: () => {}
    }
    runContract(runner, "The memory store", MemoryStore.layer)
    for (const [name, run] of cases) {
      const failed = await run().then(
        () => false,
        () => true
      )
      if (failed) return { what: name, seeds: null }
    }
    return { what: null, seeds: null }
  }
}

/** Runs `workshop simulate` with its auditor on the memory store. */
const simulate: Machine = {
  name: "simulate",
  run: () =>
    seeded(async (seed) => {
      const { trace } = await runSimulation(seed, { steps: 120, shops: 2 })
      const [first] = audit(trace)
      return first === undefined ? null : `${first.rule}: ${first.message}`
    })
}

/** Runs the cases of `workshop conform` against the service in this process up to the first that fails. */
const conform: Machine = {
  name: "conform",
  run: async () => {
    const server = await inProcess()
    const target = {
      api: new Api("http://workshop.test", { fetch: server.ask }),
      key: undefined,
      sandbox: { inboxes: server.inboxes }
    }
    for (const one of suite) {
      const [result] = await Effect.runPromise(runCases(target, [one]))
      if (result?.outcome === "failed") return { what: result.case.id, seeds: null }
    }
    return { what: null, seeds: null }
  }
}

/** Runs `npm run simulate`: several nodes over one store, with faults at every port. */
const fleet: Machine = {
  name: "nodes",
  run: () =>
    seeded(async (seed) => {
      const [first] = play(seed).breaches
      return first === undefined ? null : `${first.rule}: ${first.what}`
    })
}

/** All machines, the fastest first. */
const machines: ReadonlyArray<Machine> = [contract, simulate, fleet, conform]

const names = process.argv.slice(2)
for (const { name, run } of machines.filter((machine) => names.length === 0 || names.includes(machine.name))) {
  const began = performance.now()
  const finding = await run()
  const took_ms = Math.round(performance.now() - began)
  process.stdout.write(`${JSON.stringify({ machine: name, ...finding, took_ms })}\n`)
  if (finding.what !== null && !process.env.PLANTED_ALL) break
}
process.exit()
