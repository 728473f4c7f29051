import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "@workshop/core/domain/Instant"

const UNITS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 } as const

/** What a length of time looks like, for regular expressions: `60d`, `23h59m`, `1ms`. */
export const DURATION = String.raw`(?:\d{1,9}(?:ms|d|h|m|s))+`

const WHOLE = new RegExp(`^${DURATION}$`)

/** A length of time such as `60d`, `23h59m` or `1ms` in milliseconds; undefined for any other text. */
export const durationMs = (text: string): number | undefined => {
  if (!WHOLE.test(text)) return undefined
  const parts = text.matchAll(/(?<!\d)(\d+)(ms|d|h|m|s)/g)
  return [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit as keyof typeof UNITS], 0)
}
