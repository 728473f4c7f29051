import { hmacSha256Hex } from "./Digest.js"
import { type Instant, SECOND_MS } from "./Instant.js"
import { overlapEndOf, type Webhook } from "./Webhook.js"

/** The default name of the header with the signature (Specification, Webhooks). */
export const SIGNATURE_HEADER = "Service-Signature"

/** The secrets that sign at an instant: the current one first, then the previous one until it ends (Specification, Webhooks). */
export const signingSecrets = (webhook: Webhook, at: Instant): ReadonlyArray<string> => {
  const { secret, previous_secret } = webhook
  return previous_secret !== null && overlapEndOf(webhook, at) !== null ? [secret, previous_secret] : [secret]
}

/**
 * The value of the signature header, `t=<seconds>,v1=<hex>` with one `v1` per secret: an HMAC-SHA256 over the seconds,
 * a dot and the body in UTF-8, keyed with the whole text of the secret (Specification, Webhooks).
 */
export const signatureHeader = (body: string, secrets: ReadonlyArray<string>, at: Instant): string => {
  const t = Math.floor(at / SECOND_MS)
  const signed = `${t}.${body}`
  return [`t=${t}`, ...secrets.map((secret) => `v1=${hmacSha256Hex(secret, signed)}`)].join(",")
}
