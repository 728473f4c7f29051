import * as fc from "fast-check"

/**
 * Any Unicode character. `fc.string({ unit: "binary" })` generates the same characters, but first builds a map of all
 * 1.1 million of them, which takes a second and 100 MB.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code))
