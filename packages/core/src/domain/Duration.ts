import { Either, ParseResult, Schema } from "effect"
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./Instant.js"

const UNITS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 } as const

/** Matches a whole text that is a length of time: `60d`, `23h59m`, `1ms`. */
export const DURATION = /^(?:\d{1,9}(?:ms|d|h|m|s))+$/

/** A length of time such as `60d`, `23h59m` or `1ms` in milliseconds; undefined for any other text. */
export const durationMs = (text: string): number | undefined => {
  if (!DURATION.test(text)) return undefined
  const parts = text.matchAll(/(?<!\d)(\d+)(ms|d|h|m|s)/g)
  return [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit as keyof typeof UNITS], 0)
}

const REFUSED = "must be a length of time in d, h, m, s and ms, such as 60d, 23h59m or 24h1ms"

/** A schema that decodes such a length of time to milliseconds. */
export const DurationText = Schema.transformOrFail(Schema.String, Schema.Int, {
  strict: true,
  decode: (text, _, ast) => {
    const length = durationMs(text.trim())
    return length === undefined ? Either.left(new ParseResult.Type(ast, text, REFUSED)) : Either.right(length)
  },
  encode: (length) => Either.right(`${length}ms`)
}).annotations({ jsonSchema: { type: "string", pattern: DURATION.source, examples: ["60d", "24h1ms"] } })
