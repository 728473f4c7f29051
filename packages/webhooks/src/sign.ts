import { asList, hmac, messageOf, toHex } from "./verify.js"

/**
 * The signature header that the service would send with a body, for tests of your receiver (Specification, Webhooks).
 * @param secrets The webhook's secret; or two, as during the 24 hours after a change.
 * @param now When it is sent, as a date or in milliseconds since 1970; the present by default.
 */
export const sign = async (
  rawBody: string | Uint8Array,
  secrets: string | ReadonlyArray<string>,
  // biome-ignore lint/plugin: a receiver has neither Effect nor a clock of ours.
  now: Date | number = new Date()
): Promise<string> => {
  const t = String(Math.floor(Number(now) / 1000))
  const message = messageOf(t, rawBody)
  const signatures = await Promise.all(asList(secrets).map((secret) => hmac(secret, message)))
  return [`t=${t}`, ...signatures.map((signature) => `v1=${toHex(signature)}`)].join(",")
}
