import { describe, expect, it } from "vitest"
import { audit } from "../../src/simulate/auditor/audit.js"
import { runSimulation } from "./runSimulation.js"

const SEEDS = Array.from({ length: 12 }, (_, i) => 101 + i)
const SIZE = { steps: 60, shops: 2 }

describe("a simulation (Specification, Commands)", () => {
  const digests = new Map<number, string>()

  it.each(SEEDS)(
    "a simulation finds no violation in the run of seed %d",
    async (seed) => {
      const { trace, digest } = await runSimulation(seed, SIZE)
      digests.set(seed, digest)
      expect(audit(trace)).toEqual([])
      expect(trace.exchanges.length).toBeGreaterThan(150)
    },
    60_000
  )

  it("two simulations have the same digest for the same seed, and different digests for different seeds", async () => {
    const [seed = 0] = digests.keys()
    expect((await runSimulation(seed, SIZE)).digest).toBe(digests.get(seed))
    expect(new Set(digests.values()).size).toBe(digests.size)
    expect(digests.size).toBe(SEEDS.length)
  }, 60_000)
})
