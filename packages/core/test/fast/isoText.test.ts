import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isoText } from "../../src/fast/isoText.js"

/** The first instant of the year 1; texts of earlier years have a sign. */
const FIRST = -62_135_596_800_000
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

describe("the text of an instant (Specification, Times)", () => {
  it.each([FIRST, -1, 0, 999, Date.UTC(2000, 1, 29, 23, 59, 59, 999), Date.UTC(2026, 11, 31), LAST])(
    "the text of %i is the one that Date gives",
    (instant) => expect(isoText(instant)).toBe(new Date(instant).toISOString())
  )

  it("the text of any instant is the one that Date gives, even after the cache of dates is full", () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (instant) => {
        expect(isoText(instant)).toBe(new Date(instant).toISOString())
      }),
      // More runs than the cache has dates, so that the cache is emptied during the test.
      { seed: 1127, numRuns: 3000 }
    )
  })
})
