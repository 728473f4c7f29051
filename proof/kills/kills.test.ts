import { beforeAll, describe, expect, it } from "vitest"
import { build } from "../../packages/cli/test/Workshop.js"
import { RUNS_ALL } from "../../test/runsAll.js"
import { canFollow, canRun } from "../torture/Servers.js"
import { killed, ofProcesses } from "./Absence.js"
import { followed, plain } from "./Engine.js"
import { kills } from "./kills.js"
import { outages } from "./outage.js"

// These tests start thirty servers and processes, so they run only if RUNS_ALL is set. proof/torture/torture.test.ts
// always runs, and kills processes of the service.
describe.runIf(RUNS_ALL && canRun)("cells on real servers that become unavailable (docs/scaling.md)", () => {
  beforeAll(build, 120_000)

  it("cells lose no acknowledged ticket and create none twice when servers are killed around a commit", async () => {
    const engine = await plain()
    try {
      const results = await kills({ engine, count: 2, seed: 1, say: () => undefined })
      for (const { lost, twice, acknowledged } of results) {
        expect([lost, twice]).toEqual([0, 0])
        expect(acknowledged).toBeGreaterThan(0)
      }
      expect(results.map(({ target }) => target)).toEqual(["connection", "coordinator", "worker"])
    } finally {
      await engine.end()
    }
  }, 300_000)

  it("while cells are killed or silent, only their shops get 503 with Retry-After, quickly and over few connections; the others are served", async () => {
    const engine = await plain()
    try {
      const results = await outages(engine, ofProcesses)
      expect(results.map(({ absence, cells }) => `${cells} ${absence}`)).toEqual(
        ofProcesses.flatMap(({ name }) => [`east ${name}`, `home north ${name}`])
      )
      for (const { broken } of results) expect(broken).toEqual([])
    } finally {
      await engine.end()
    }
  }, 300_000)

  it.skipIf(!canFollow)(
    "while a cell has no primary, only its shops are unavailable; the promoted synchronous standby has every acknowledged ticket",
    async () => {
      const engine = await followed()
      try {
        const results = await outages(engine, [killed])
        expect(results.map(({ absence, cells }) => `${cells} ${absence}`)).toEqual(["east killed", "home north killed"])
        for (const { broken } of results) expect(broken).toEqual([])
      } finally {
        await engine.end()
      }
    },
    300_000
  )
})
