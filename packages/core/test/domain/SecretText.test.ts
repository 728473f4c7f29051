import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hashKey, KEY_BYTES, looksLikeKey, looksLikeTestKey, makeKeyText } from "../../src/domain/ApiKey.js"
import { SECRET_BYTES, toSecretText } from "../../src/domain/SecretText.js"
import { makeWebhookSecret, withNewSecret } from "../../src/domain/Webhook.js"

const secretBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("Specification, Keys and scopes; Webhooks: secrets as text", () => {
  it("bytes are written as base64url without padding, as Node writes them (Specification, Keys and scopes)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(toSecretText(bytes)).toBe(Buffer.from(bytes).toString("base64url"))
      }),
      { numRuns: 500 }
    )
  })

  it("secretText encodes every value of a byte at each of the three positions of a group (Specification, Keys and scopes)", () => {
    for (let byte = 0; byte < 256; byte++) {
      const bytes = Uint8Array.from([byte, 255 - byte, byte ^ 0x5a])
      expect(toSecretText(bytes)).toBe(Buffer.from(bytes).toString("base64url"))
    }
  })

  it("32 random bytes make 43 characters (Specification, Keys and scopes)", () => {
    expect([SECRET_BYTES, KEY_BYTES]).toEqual([32, 32])
    fc.assert(
      fc.property(secretBytes, (bytes) => {
        expect(toSecretText(bytes)).toMatch(/^[A-Za-z0-9_-]{43}$/)
      })
    )
  })
})

describe("Specification, Keys and scopes: API keys", () => {
  it("an API key is wk_live_ and 43 characters (Specification, Keys and scopes)", () => {
    fc.assert(
      fc.property(secretBytes, (bytes) => {
        const key = makeKeyText("live", bytes)
        expect(key).toBe(`wk_live_${Buffer.from(bytes).toString("base64url")}`)
        expect(looksLikeKey(key)).toBe(true)
      })
    )
  })

  it("a test key is wk_test_ and 43 characters, or 8 to 64 given ones (Specification, Keys and scopes)", () => {
    const key = makeKeyText("test", new Uint8Array(32))
    expect(key).toBe(`wk_test_${"A".repeat(43)}`)
    for (const good of [key, "wk_test_eight-ch", `wk_test_${"a".repeat(64)}`])
      expect([looksLikeKey(good), looksLikeTestKey(good)], good).toEqual([true, true])
    for (const bad of [
      "wk_test_",
      "wk_test_seven-c",
      `wk_test_${"a".repeat(65)}`,
      "awk_test_eight-ch",
      "wk_test_with space",
      "wk_test_eight-ch\n"
    ])
      expect([looksLikeKey(bad), looksLikeTestKey(bad)], bad).toEqual([false, false])
    expect(looksLikeTestKey(makeKeyText("live", new Uint8Array(32)))).toBe(false)
  })

  it("the hash of a key is SHA-256 in lower-case hexadecimal, as Node computes it (Specification, Keys and scopes)", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "grapheme" }),
          secretBytes.map((bytes) => makeKeyText("live", bytes))
        ),
        (text) => {
          expect(hashKey(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"))
        }
      )
    )
    expect(hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })

  it("a text that cannot be a key is refused without a look-up (Specification, Keys and scopes)", () => {
    const key = makeKeyText("live", new Uint8Array(32))
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

describe("Specification, Webhooks: webhook secrets", () => {
  it("a webhook secret is whsec_ and 43 characters (Specification, Webhooks)", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => i * 7)
    expect(makeWebhookSecret(bytes)).toBe(`whsec_${Buffer.from(bytes).toString("base64url")}`)
    expect(makeWebhookSecret(bytes)).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
  })

  it("the previous secret is kept with the new one for 24 hours after a rotation (Specification, Webhooks)", () => {
    const webhook = { secret: "whsec_old", previous_secret: "whsec_older", previous_until: 5 } as never
    expect(withNewSecret(webhook, "whsec_new", 1_000_000)).toMatchObject({
      secret: "whsec_new",
      previous_secret: "whsec_old",
      previous_until: 1_000_000 + 86_400_000
    })
  })
})
