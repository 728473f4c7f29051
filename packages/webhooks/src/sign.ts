import { computeHmac, messageOf, toHex, toSecretList } from "./verify.js"

/** Options of {@link sign}. */
export interface SignOptions {
  /** The time of sending, as a date or in milliseconds since 1970; the current time by default. */
  readonly now?: Date | number
}

/** The seconds since 1970. Throws for an invalid time, which would be signed as `t=NaN`. */
const secondsOf = (now: Date | number): string => {
  const millis = typeof now === "number" || now instanceof Date ? Number(now) : Number.NaN
  if (Number.isFinite(millis)) return String(Math.floor(millis / 1000))
  throw new TypeError("The time must be a Date or milliseconds since 1970, or an object { now } with one of these")
}

/**
 * The signature header that the service would send with a body, for tests of your receiver (Specification, Webhooks).
 * @param secrets The webhook's secret, or two secrets, as in the 24 hours after a rotation.
 * @param options The options, or only the time of sending.
 * @throws TypeError for no secret, an empty secret, or an invalid time.
 */
export const sign = async (
  rawBody: string | Uint8Array,
  secrets: string | ReadonlyArray<string>,
  options: Date | number | SignOptions = {}
): Promise<string> => {
  const isTime = typeof options !== "object" || options === null || options instanceof Date
  // biome-ignore lint/plugin: a receiver has neither Effect nor the service's clock.
  const t = secondsOf(isTime ? options : (options.now ?? new Date()))
  const message = messageOf(t, rawBody)
  const signatures = await Promise.all(toSecretList(secrets).map((secret) => computeHmac(secret, message)))
  return [`t=${t}`, ...signatures.map((signature) => `v1=${toHex(signature)}`)].join(",")
}
