import { describe, expect, it } from "vitest"
import { play, shrink } from "./play.js"

/** The seeds, of which two have cells. `npm run simulate` plays a thousand seeds, as CI does for each change. */
const SEEDS = Array.from({ length: 12 }, (_, i) => 1 + i)

describe("several nodes over one store, with faults at every port", () => {
  it(`the nodes break no rule of the specification in the runs of ${SEEDS.length} seeds`, () => {
    expect(SEEDS.flatMap((seed) => play(seed).breaches.map((breach) => ({ seed, ...breach })))).toEqual([])
  }, 120_000)

  it("two runs of the same seed have the same digest, and a run of a different seed has a different digest", () => {
    const [first, second, other] = [play(7), play(7), play(8)]
    expect(second.digest).toBe(first.digest)
    expect(other.digest).not.toBe(first.digest)
    expect(first.history.exchanges.length).toBeGreaterThan(30)
  }, 60_000)

  it("a part of a script always runs in the same way, so that a failing script can be shrunk", () => {
    const only = [0, 3, 5, 8]
    expect(play(7, 80, only).digest).toBe(play(7, 80, only).digest)
    // No run breaks this rule, so no step can be left out.
    expect(shrink(7, 3, "no rule")).toEqual([0, 1, 2])
  }, 60_000)
})
