import { asList, hmac, messageOf, toHex } from "./verify.js"

/** Options of {@link sign}. */
export interface SignOptions {
  /** When it is sent, as a date or in milliseconds since 1970; the present by default. */
  readonly now?: Date | number
}

/** The seconds since 1970; a time that is none would sign `t=NaN`, which no receiver takes. */
const secondsOf = (now: Date | number): string => {
  const millis = typeof now === "number" || now instanceof Date ? Number(now) : Number.NaN
  if (Number.isFinite(millis)) return String(Math.floor(millis / 1000))
  throw new TypeError("The time must be a Date or milliseconds since 1970, alone or as { now }")
}

/**
 * The signature header that the service would send with a body, for tests of your receiver (Specification, Webhooks).
 * @param secrets The webhook's secret; or two, as during the 24 hours after a change.
 * @param options When it is sent, as `verify` and `receive` take it, or the time alone.
 * @throws TypeError for no secret, an empty one, and a time that is none.
 */
export const sign = async (
  rawBody: string | Uint8Array,
  secrets: string | ReadonlyArray<string>,
  options: Date | number | SignOptions = {}
): Promise<string> => {
  const isTime = typeof options !== "object" || options === null || options instanceof Date
  // biome-ignore lint/plugin: a receiver has neither Effect nor a clock of ours.
  const t = secondsOf(isTime ? options : (options.now ?? new Date()))
  const message = messageOf(t, rawBody)
  const signatures = await Promise.all(asList(secrets).map((secret) => hmac(secret, message)))
  return [`t=${t}`, ...signatures.map((signature) => `v1=${toHex(signature)}`)].join(",")
}
