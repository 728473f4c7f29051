import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { KEY_BYTES, keyHash, keyText, looksLikeKey } from "../../src/domain/ApiKey.js"
import { SECRET_BYTES, secretText } from "../../src/domain/SecretText.js"
import { rotated, webhookSecret } from "../../src/domain/Webhook.js"

const secretBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("contract §7, §9: secrets as text", () => {
  it("any bytes are written as base64url without padding, as Node writes them (contract §7)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(secretText(bytes)).toBe(Buffer.from(bytes).toString("base64url"))
      }),
      { numRuns: 500 }
    )
  })

  it("every value of a byte is written, at each of the three places (contract §7)", () => {
    for (let byte = 0; byte < 256; byte++) {
      const bytes = Uint8Array.from([byte, 255 - byte, byte ^ 0x5a])
      expect(secretText(bytes)).toBe(Buffer.from(bytes).toString("base64url"))
    }
  })

  it("32 random bytes make 43 characters (contract §7)", () => {
    expect([SECRET_BYTES, KEY_BYTES]).toEqual([32, 32])
    fc.assert(
      fc.property(secretBytes, (bytes) => {
        expect(secretText(bytes)).toMatch(/^[A-Za-z0-9_-]{43}$/)
      })
    )
  })
})

describe("contract §7: API keys", () => {
  it("a key is wk_live_ and 43 characters (contract §7)", () => {
    fc.assert(
      fc.property(secretBytes, (bytes) => {
        const key = keyText(bytes)
        expect(key).toBe(`wk_live_${Buffer.from(bytes).toString("base64url")}`)
        expect(looksLikeKey(key)).toBe(true)
      })
    )
  })

  it("its hash is SHA-256 in lower-case hexadecimal, as Node computes it (contract §7)", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), secretBytes.map(keyText)), (text) => {
        expect(keyHash(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"))
      })
    )
    expect(keyHash("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })

  it("what could not be a key needs no look-up (spec §5)", () => {
    const key = keyText(new Uint8Array(32))
    const others = [
      "",
      "wk_live_",
      key.slice(0, -1),
      `${key}A`,
      `${key}\n`,
      ` ${key}`,
      key.toUpperCase(),
      `${key.slice(0, -1)}+`
    ]
    expect(others.some(looksLikeKey)).toBe(false)
  })
})

describe("contract §9: webhook secrets", () => {
  it("a secret is whsec_ and 43 characters (contract §9)", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => i * 7)
    expect(webhookSecret(bytes)).toBe(`whsec_${Buffer.from(bytes).toString("base64url")}`)
    expect(webhookSecret(bytes)).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
  })

  it("for 24 hours after a change the old one is kept beside the new (spec §6)", () => {
    const webhook = { secret: "whsec_old", previous_secret: "whsec_older", previous_until: 5 } as never
    expect(rotated(webhook, "whsec_new", 1_000_000)).toMatchObject({
      secret: "whsec_new",
      previous_secret: "whsec_old",
      previous_until: 1_000_000 + 86_400_000
    })
  })
})
