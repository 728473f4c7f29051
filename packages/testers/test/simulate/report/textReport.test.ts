import { expect, it } from "vitest"
import { countLines } from "../../../src/simulate/report/textReport.js"

it("the counts of a simulation use singular nouns after 1 (docs/simulate.md)", () => {
  const counts = {
    ...{ steps: 1, simulated_ms: 86_400_000, requests: 1, deliveries: 1, tickets: 1, shops: 1, clients: 1 },
    ...{ actions: {}, answers: {}, events: {}, states: {}, outcomes: {} }
  }
  const summary = { seed: 7, digest: "", counts, violations: [] }
  const [first, second] = countLines({
    ...{ summary, latencies: [], took_ms: 1_000, command: "", stopped: null, clock: null }
  })
  expect(first).toBe("Seed 7: 1 step over 1 day, in 1.0 s of real time")
  expect(second).toBe("1 request (1 a second), 1 delivery, 1 ticket, 1 shop, 1 client")
})
