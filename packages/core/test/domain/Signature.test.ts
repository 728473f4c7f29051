import { createHmac } from "node:crypto"
import { describe, expect, it } from "vitest"
import { bytesOf, vectors } from "../../../webhooks/test/vectors.js"
import type { ShopId } from "../../src/domain/Identifier.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../../src/domain/Signature.js"
import { type Webhook, withNewSecret } from "../../src/domain/Webhook.js"

const AT = 1_732_000_000_000
const DAY_MS = 86_400_000

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text, "utf8").digest("hex")

describe("the signature header (Specification, Webhooks)", () => {
  it("the header is Service-Signature", () => expect(SIGNATURE_HEADER).toBe("Service-Signature"))

  it("the header has t, the seconds, and v1, the hex HMAC-SHA256 of t, a dot and the body", () => {
    const body = '{"name":"Zoë 👞"}'
    expect(signatureHeader(body, ["whsec_a"], AT)).toBe(`t=1732000000,v1=${hmac("whsec_a", `1732000000.${body}`)}`)
  })

  it("the header has one v1 for each secret, in their order", () => {
    const [a, b] = [hmac("whsec_a", "1732000000."), hmac("whsec_b", "1732000000.")]
    expect(signatureHeader("", ["whsec_a", "whsec_b"], AT)).toBe(`t=1732000000,v1=${a},v1=${b}`)
  })

  it("t has whole seconds, rounded down", () => {
    expect(signatureHeader("", [], AT + 999)).toBe("t=1732000000")
    expect(signatureHeader("", [], AT + 1000)).toBe("t=1732000001")
  })

  it("the header equals the valid header of every test vector whose body is text", () => {
    const good = vectors.filter(
      ({ ok, body, header }) => ok && body.base64 === undefined && /^t=\d+,v1=\w+$/.test(header!)
    )
    expect(good.length).toBeGreaterThan(8)
    for (const { header, secrets, body } of good) {
      const headers = secrets.map((secret) => signatureHeader(bytesOf(body).toString(), [secret], AT))
      expect(headers).toContain(header)
    }
  })
})

describe("the secrets with which the service signs (Specification, Webhooks)", () => {
  const webhook = {
    shop_id: "shop_1" as ShopId,
    url: "https://shop.example.com/hook",
    secret: "whsec_a",
    previous_secret: null,
    previous_until: null,
    off_reason: null,
    failures_in_row: 0,
    first_failure_at: null
  } as Webhook
  const changed = withNewSecret(webhook, "whsec_b", AT)

  it("a webhook without a rotation signs with its one secret", () =>
    expect(signingSecrets(webhook, AT)).toEqual(["whsec_a"]))

  it("a webhook signs with one secret if the previous one or its end is missing", () => {
    expect(signingSecrets({ ...changed, previous_secret: null }, AT)).toEqual(["whsec_b"])
    expect(signingSecrets({ ...changed, previous_until: null }, AT)).toEqual(["whsec_b"])
  })

  it("for 24 hours after a rotation the service signs with both secrets, the new one first", () => {
    for (const after of [0, 1, DAY_MS - 1]) expect(signingSecrets(changed, AT + after)).toEqual(["whsec_b", "whsec_a"])
  })

  it("after 24 hours the service signs with the new secret only", () => {
    for (const after of [DAY_MS, 2 * DAY_MS]) expect(signingSecrets(changed, AT + after)).toEqual(["whsec_b"])
  })

  it("after two rotations in a day the service signs with the last two secrets", () => {
    const again = withNewSecret(changed, "whsec_c", AT + 1000)
    expect(signingSecrets(again, AT + DAY_MS)).toEqual(["whsec_c", "whsec_b"])
  })
})
