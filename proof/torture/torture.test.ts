import { beforeAll, describe, expect, it } from "vitest"
import { build } from "../../packages/cli/test/Workshop.js"
import { aheadIn, canRun } from "./Servers.js"
import { torture } from "./torture.js"

describe.skipIf(!canRun)("two processes on a real Postgres, with each fault once", () => {
  beforeAll(build, 120_000)

  it("two processes lose, duplicate and reorder nothing that they acknowledged, and deliver every event", async () => {
    const lines: Array<string> = []
    const { violations, faults } = await torture({
      seconds: 0,
      seed: 1,
      isShort: true,
      say: (line) => lines.push(line)
    })
    expect(violations, lines.join("\n")).toEqual([])
    expect(faults).toEqual({
      "kill -9": 1,
      SIGSTOP: 1,
      "connections cut": 1,
      "connections half-open": 1,
      "clock moved by a minute": 1
    })
  }, 300_000)
})

it("the milliseconds by which data are ahead of a clock are read from the reason in /readyz, and are infinite for another reason", () => {
  const says = (words: string) => aheadIn(`The data are ${words} ahead of this server's clock: set the clock right`)
  expect([says("58 seconds"), says("1 minute"), says("2 hours"), says("3 days")]).toEqual([
    58_000,
    60_000,
    7_200_000,
    Number.POSITIVE_INFINITY
  ])
  expect(aheadIn("The service cannot reach its store")).toBe(Number.POSITIVE_INFINITY)
})
