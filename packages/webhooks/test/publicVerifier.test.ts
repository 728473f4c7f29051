import Stripe from "stripe"
import { describe, expect, it } from "vitest"
import { eventTypes } from "../../core/src/domain/EventType.js"
import { signatureHeader } from "../../core/src/domain/Signature.js"
import { bytesOf, vectors } from "./vectors.js"

// Stripe has the same signature scheme (t, a dot, the body; HMAC-SHA256; v1), so its library is an independent
// verifier.
const { webhooks } = new Stripe("sk_test_nothing_is_sent")

const AT_S = 1_732_000_000

const judge = (body: string | Buffer, header: string, secret: string, tolerance_s: number, now_s: number): boolean => {
  try {
    return webhooks.signature!.verifyHeader(body, header, secret, tolerance_s, undefined, now_s * 1000)
  } catch {
    return false
  }
}

describe("a public verifier of this scheme (Specification, Webhooks)", () => {
  it.each(Object.keys(eventTypes))(
    "Stripe's verifier accepts the service's signature of %s, and refuses another secret or body",
    (type) => {
      const body = JSON.stringify({ id: "evt", type, data: { name: "Zoë 👞" } })
      const header = signatureHeader(body, ["whsec_new", "whsec_old"], AT_S * 1000)
      expect(judge(body, header, "whsec_new", 300, AT_S)).toBe(true)
      expect(judge(body, header, "whsec_old", 300, AT_S)).toBe(true)
      expect(judge(body, header, "whsec_else", 300, AT_S)).toBe(false)
      expect(judge(`${body} `, header, "whsec_new", 300, AT_S)).toBe(false)
    }
  )

  it("Stripe's verifier refuses a time more than five minutes in the past, like verify", () => {
    const header = signatureHeader("{}", ["whsec_a"], AT_S * 1000)
    expect(judge("{}", header, "whsec_a", 300, AT_S + 300)).toBe(true)
    expect(judge("{}", header, "whsec_a", 300, AT_S + 301)).toBe(false)
  })

  it("Stripe's verifier accepts every valid test vector with one secret", () => {
    // Stripe's library decodes a body as text, which loses a byte order mark and all bytes that are not UTF-8.
    const isWhole = (body: Buffer) => Buffer.from(new TextDecoder().decode(body)).equals(body)
    const good = vectors.filter(
      ({ ok, header, secrets, body }) =>
        ok && secrets.length === 1 && /^t=\d+,/.test(header ?? "") && isWhole(bytesOf(body))
    )
    expect(good.length).toBeGreaterThan(8)
    for (const { name, body, header, secrets, tolerance_seconds, now } of good)
      expect([name, judge(bytesOf(body), header!, secrets[0]!, tolerance_seconds, now)]).toEqual([name, true])
  })
})
