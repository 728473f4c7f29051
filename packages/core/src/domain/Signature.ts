import { hmacSha256Hex } from "./Digest.js"
import { type Instant, SECOND_MS } from "./Instant.js"
import type { Webhook } from "./Webhook.js"

/** The header that carries the signature, unless configured otherwise (Specification, Webhooks). */
export const SIGNATURE_HEADER = "Service-Signature"

/** The secrets that sign at an instant, the current one first; the one before it until its end (Specification, Webhooks). */
export const signingSecrets = (
  { secret, previous_secret, previous_until }: Webhook,
  at: Instant
): ReadonlyArray<string> =>
  previous_secret !== null && previous_until !== null && at < previous_until ? [secret, previous_secret] : [secret]

/**
 * The text of the signature header, `t=<seconds>,v1=<hex>` with one `v1` a secret: HMAC-SHA256 over the seconds, a dot
 * and the body in UTF-8, keyed with the whole secret text (Specification, Webhooks).
 */
export const signatureHeader = (body: string, secrets: ReadonlyArray<string>, at: Instant): string => {
  const t = Math.floor(at / SECOND_MS)
  const signed = `${t}.${body}`
  return [`t=${t}`, ...secrets.map((secret) => `v1=${hmacSha256Hex(secret, signed)}`)].join(",")
}
