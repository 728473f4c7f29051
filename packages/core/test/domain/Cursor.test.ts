import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../../test/anyCharacter.js"
import { type CursorBinding, decode, encode } from "../../src/domain/Cursor.js"
import type { ShopId } from "../../src/domain/Identifier.js"

const SHOP = "00000000-0000-7000-8000-000000000001" as ShopId
const OTHER_SHOP = "00000000-0000-7000-8000-000000000002" as ShopId
const binding: CursorBinding = { shop_id: SHOP, filters: [["state", ["ready"]]] }

/** Positions in a list: a sequence number, or an instant and an identifier. */
const place = fc.oneof(
  fc.nat().map(String),
  fc.tuple(fc.nat(), fc.uuid()).map(([at, id]) => `${at} ${id}`)
)

describe("Specification, Lists and sync: cursors", () => {
  it("a cursor leads back to the position from which it was made (Specification, Lists and sync)", () => {
    fc.assert(
      fc.property(place, (place) => {
        expect(decode(binding, encode(binding, place))).toBe(place)
      })
    )
  })

  it("a cursor is its position in base64url, a dot and sixteen digits of a digest (Specification, Lists and sync)", () => {
    expect(encode(binding, "~~>???")).toMatch(/^fn4-Pz8_\.[0-9a-f]{16}$/)
    expect(encode(binding, "4")).toMatch(/^NA\.[0-9a-f]{16}$/)
    expect(decode(binding, encode(binding, "~~>???"))).toBe("~~>???")
  })

  it("a cursor needs no escaping in a URL (Specification, Lists and sync)", () => {
    fc.assert(
      fc.property(place, (place) => {
        const cursor = encode(binding, place)
        expect(cursor).toMatch(/^[A-Za-z0-9_.-]+$/)
        expect(encodeURIComponent(cursor)).toBe(cursor)
      })
    )
  })

  it("a cursor is valid only for its shop and its filters (Specification, Lists and sync)", () => {
    const cursor = encode(binding, "42")
    expect(decode({ ...binding, shop_id: OTHER_SHOP }, cursor)).toBeNull()
    for (const filters of [[], [["state", ["workshop"]]], [["state", ["ready", "workshop"]]], null, undefined, {}]) {
      expect(decode({ ...binding, filters }, cursor)).toBeNull()
    }
    expect(decode({ shop_id: SHOP, filters: [["state", ["ready"]]] }, cursor)).toBe("42")
  })

  it("a cursor with a changed, added or missing character is refused, not read as another position (Specification, Lists and sync)", () => {
    const character = fc.constantFrom(..."ABCxyz019-_.=+/ é\u0000")
    const damage = fc.record({ at: fc.nat(60), character, how: fc.constantFrom("put", "insert", "drop") })
    fc.assert(
      fc.property(place, damage, (place, { at, character, how }) => {
        const cursor = encode(binding, place)
        const i = at % cursor.length
        const rest = cursor.slice(how === "insert" ? i : i + 1)
        const damaged = cursor.slice(0, i) + (how === "drop" ? "" : character) + rest
        expect(decode(binding, damaged)).toBe(damaged === cursor ? place : null)
      }),
      { numRuns: 1000 }
    )
  })

  it("a cursor with another spelling of the same position is refused as damaged (Specification, Lists and sync)", () => {
    // One byte is encoded as two characters of six bits, so the last four bits are unused.
    const [text, sum] = encode(binding, "7").split(".")
    expect(text).toBe("Nw")
    for (const other of ["Nx", "Ny", "Nw=", "Nw==", " Nw", "N w"]) {
      expect(decode(binding, `${other}.${sum}`)).toBeNull()
    }
  })

  it("a text that is not an issued cursor is refused (Specification, Lists and sync)", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(decode(binding, text)).toBeNull()
      })
    )
    for (const text of ["", ".", "..", "a", "a.b", "NDI.0000000000000000", "x".repeat(5000), `${"x".repeat(5000)}.0`]) {
      expect(decode(binding, text)).toBeNull()
    }
  })

  it("a cursor with more text after it is refused as damaged (Specification, Lists and sync)", () => {
    const cursor = encode(binding, "42")
    for (const more of [".", ".x", "0", "\n", " "]) expect(decode(binding, cursor + more)).toBeNull()
  })
})
