import { beforeAll, describe, expect, it } from "vitest"
import { build } from "../../packages/cli/test/Workshop.js"
import { RUNS_ALL } from "../../test/runsAll.js"
import { canFollow, canRun } from "../torture/Servers.js"
import { killed, ofProcesses } from "./Absence.js"
import { followed, plain } from "./Engine.js"
import { kills } from "./kills.js"
import { outages } from "./outage.js"

// These start thirty servers and processes. Without them proof/torture/torture.test.ts kills processes of the service and of Postgres.
describe.runIf(RUNS_ALL && canRun)("cells on real servers that are killed (docs/scaling.md)", () => {
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

  it("killed or silent cells make only their shops unavailable, with 503 and Retry-After in time and few connections; the others are served", async () => {
    const engine = await plain()
    try {
      const found = await outages(engine, ofProcesses)
      expect(found.map(({ absence, cells }) => `${cells} ${absence}`)).toEqual(
        ofProcesses.flatMap(({ name }) => [`east ${name}`, `home north ${name}`])
      )
      for (const { broken } of found) expect(broken).toEqual([])
    } finally {
      await engine.end()
    }
  }, 300_000)

  it.skipIf(!canFollow)(
    "cells without a primary make only their shops unavailable until a synchronous standby is promoted, and then serve with all that was acknowledged",
    async () => {
      const engine = await followed()
      try {
        const found = await outages(engine, [killed])
        expect(found.map(({ absence, cells }) => `${cells} ${absence}`)).toEqual(["east killed", "home north killed"])
        for (const { broken } of found) expect(broken).toEqual([])
      } finally {
        await engine.end()
      }
    },
    300_000
  )
})
