import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { editDistance, findNearestName } from "../../src/domain/NearestName.js"

describe("the distance of two names", () => {
  it.each([
    ["", "", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["store", "store", 0],
    ["store", "stores", 1],
    ["store", "stre", 1],
    ["store", "score", 1],
    ["store", "stroe", 1],
    ["store", "tsore", 1],
    ["store", "storse", 1],
    ["ab", "ba", 1],
    ["abcd", "badc", 2],
    ["ca", "abc", 3],
    ["kitten", "sitting", 3],
    ["sender", "", 6],
    ["aab", "aba", 1],
    ["abc", "xyz", 3]
  ])("%j and %j have the distance %i", (a, b, far) => {
    expect(editDistance(a, b)).toBe(far)
    expect(editDistance(b, a)).toBe(far)
  })

  it("the distance is at most the longer length, and at least the difference of the lengths", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 })
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length))
        expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
      })
    )
  })
})

describe("the nearest of the known names", () => {
  it.each([
    ["two letters must be right", "ab", ["ac"], undefined],
    ["two letters, in another case", "AB", ["ab"], "ab"],
    ["one of three letters may be wrong", "abc", ["xbc"], "xbc"],
    ["one of four", "abcd", ["xbcd", "abcd!!"], "xbcd"],
    ["not two of four", "abcd", ["xycd"], undefined],
    ["two of five", "abcde", ["xycde"], "xycde"],
    ["not three of seven", "abcdefg", ["xyzdefg"], undefined],
    ["three of eight", "abcdefgh", ["xyzdefgh"], "xyzdefgh"],
    ["the case of letters makes no difference", "ONERROR", ["onError"], "onError"],
    ["the nearest, whichever is first", "sendr", ["render", "sender"], "sender"],
    ["the nearest, whichever is last", "sendr", ["sender", "render"], "sender"],
    ["the first of two that are as near", "abcd", ["xbcd", "abcx"], "xbcd"],
    ["none without names", "store", [], undefined]
  ])("the nearest name is found within its limit: %s", (_, written, names, meant) =>
    expect(findNearestName(written, names)).toBe(meant)
  )
})
