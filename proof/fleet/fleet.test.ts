import { describe, expect, it } from "vitest"
import { play, shrink } from "./play.js"

/** Two on cells among them. `npm run simulate` plays a thousand, as CI does for each change. */
const SEEDS = Array.from({ length: 12 }, (_, i) => 1 + i)

describe("several nodes over one store, with faults at every port", () => {
  it(`several nodes keep the specification in the runs of ${SEEDS.length} seeds`, () => {
    expect(SEEDS.flatMap((seed) => play(seed).breaches.map((breach) => ({ seed, ...breach })))).toEqual([])
  }, 120_000)

  it("several nodes do the same again with the same seed, and something else with another", () => {
    const [once, again, other] = [play(7), play(7), play(8)]
    expect(again.digest).toBe(once.digest)
    expect(other.digest).not.toBe(once.digest)
    expect(once.history.exchanges.length).toBeGreaterThan(30)
  }, 60_000)

  it("several nodes repeat a part of their script exactly, so that a failing one can be shrunk", () => {
    const only = [0, 3, 5, 8]
    expect(play(7, 80, only).digest).toBe(play(7, 80, only).digest)
    // Nothing breaks this rule, so nothing can be left out of the script without losing it.
    expect(shrink(7, 3, "no rule")).toEqual([0, 1, 2])
  }, 60_000)
})
