import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../../test/anyCharacter.js"
import { hmacSha256Hex, portable, sha256Hex } from "../../src/domain/Digest.js"

const SEEDED = { seed: 1 }

const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: "grapheme" }), fc.constant("\uD800"))

describe("digests are the same on every platform", () => {
  it("the platform's SHA-256 equals the portable one for any text, even with lone surrogates (Specification, Endpoints)", () =>
    fc.assert(
      fc.property(anyText, (text) => sha256Hex(text) === portable.sha256Hex(text)),
      SEEDED
    ))

  it("the platform's HMAC-SHA-256 equals the portable one for any text and any key (Specification, Webhooks)", () =>
    fc.assert(
      fc.property(anyText, anyText, (key, text) => hmacSha256Hex(key, text) === portable.hmacSha256Hex(key, text)),
      SEEDED
    ))

  it("Node's own implementation is used if there is one", () => expect(sha256Hex).not.toBe(portable.sha256Hex))

  it("both implementations give the published value (RFC 4231, case 2)", () => {
    const published = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    for (const hmac of [portable.hmacSha256Hex, hmacSha256Hex])
      expect(hmac("Jefe", "what do ya want for nothing?")).toBe(published)
  })
})
