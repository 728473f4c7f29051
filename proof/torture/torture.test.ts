import { beforeAll, describe, expect, it } from "vitest"
import { build } from "../../packages/cli/test/Workshop.js"
import { canRun } from "./Servers.js"
import { torture } from "./torture.js"

/** The run and its recovery take a minute, of which the tests of everything else have no more than five. */
const isAskedFor = process.env.TORTURE !== undefined

describe.skipIf(!canRun || !isAskedFor)("two processes on a real Postgres, tortured for some seconds", () => {
  beforeAll(build, 120_000)

  it("keep what they acknowledged, in order, once, and deliver it", async () => {
    const said: Array<string> = []
    const { found, answered, faults } = await torture({
      seconds: 5,
      seed: 1,
      isShort: true,
      say: (line) => said.push(line)
    })
    expect(found, said.join("\n")).toEqual([])
    expect(answered).toBeGreaterThan(20)
    expect(Object.keys(faults)).toContain("kill -9")
  }, 120_000)
})
