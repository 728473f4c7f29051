import { durationInWords } from "@workshop/core/internal"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { signatureHeader } from "../../../core/src/domain/Signature.js"
import { type StoredDelivery, verifyDelivery } from "../../src/verify/VerifyCommand.js"

const NOON = 1_795_176_000_000
const SECRET = "whsec_the-shop's-own"
const BODY = '{"id":"e1"}'

const judged = (kept: Partial<Omit<StoredDelivery, "body">> & { readonly body?: string }) =>
  Effect.runPromise(
    verifyDelivery({
      signature: signatureHeader(BODY, [SECRET], NOON),
      secrets: [SECRET],
      tolerance_ms: 300_000,
      at: NOON,
      ...kept,
      body: new TextEncoder().encode(kept.body ?? BODY)
    })
  )

describe("workshop verify says whether a delivery is authentic (Specification, Webhooks; Commands)", () => {
  it("the judgement of an authentic delivery says that it is valid, and when it was signed", async () => {
    expect(await judged({ at: NOON + 12_000 })).toEqual({
      valid: true,
      reason: null,
      sentence: "Valid: signed at 2026-11-20T12:00:00.000Z, 12 seconds before the receiver's clock.",
      t: 1_795_176_000,
      age_seconds: 12
    })
  })

  it.each([
    ["no header", { signature: null }, "missing", /^There is no signature/],
    [
      "a malformed header",
      { signature: "sha256=abc" },
      "malformed",
      /does not have the form t=<seconds>,v1=<64 hex digits>/
    ],
    [
      "another secret",
      { secrets: ["whsec_other"] },
      "mismatch",
      /does not match this body and this secret\. Check the secret/
    ],
    [
      "a secret without its prefix",
      { secrets: ["other"] },
      "mismatch",
      /A secret starts with whsec_, so give the secret including whsec_\.$/
    ],
    ["another body", { body: '{"id": "e1"}' }, "mismatch", /not parsed and serialized again/],
    ["an additional newline", { body: `${BODY}\n` }, "mismatch", /without the newline at its end/],
    ["an additional Windows line end", { body: `${BODY}\r\n` }, "mismatch", /without the newline at its end/],
    [
      "a signature that is too old",
      { at: NOON + 301_000 },
      "too_old",
      /^The signature is valid but 5 minutes 1 second older than the receiver's clock, and at most 5 minutes is allowed/
    ],
    [
      "a signature that is ahead of the clock",
      { at: NOON - 301_000 },
      "too_new",
      /^The signature is valid but 5 minutes 1 second ahead of the receiver's clock, and at most 5 minutes is allowed/
    ]
  ] as const)("a delivery is not valid with %s", async (_, kept, reason, sentence) => {
    expect(await judged(kept)).toMatchObject({ valid: false, reason, sentence: expect.stringMatching(sentence) })
  })

  it("a body without the newline that was signed at its end is detected", async () => {
    const signature = signatureHeader(`${BODY}\n`, [SECRET], NOON)
    expect((await judged({ signature })).sentence).toMatch(/with a newline at its end/)
  })

  it("the age of a signature is written in its two largest units", async () => {
    const { sentence } = await judged({ at: NOON + 63_349_962_000 })
    expect(sentence).toContain("but 2 years 3 days older than the receiver's clock")
    expect([0, 1, 59, 60, 3600, 5400, 86_399, 172_800].map(durationInWords)).toEqual([
      "0 seconds",
      "1 second",
      "59 seconds",
      "1 minute",
      "1 hour",
      "1 hour 30 minutes",
      "23 hours 59 minutes",
      "2 days"
    ])
    expect((await judged({ at: NOON - 1000 })).sentence).toMatch(/Z, 1 second after the receiver's clock\.$/)
  })

  it("a larger tolerance accepts older signatures", async () => {
    expect(await judged({ at: NOON + 301_000, tolerance_ms: 301_000 })).toMatchObject({ valid: true })
  })
})
