import { Either, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { DURATION, DurationText, durationMs } from "../../src/domain/Duration.js"
import { durationInWords } from "../../src/domain/Instant.js"

const DAY = 86_400

describe("a length of time as people write it (Specification, Sandbox)", () => {
  it.each([
    ["1ms", 1],
    ["2s", 2000],
    ["3m", 180_000],
    ["4h", 14_400_000],
    ["60d", 5_184_000_000],
    ["23h59m", 86_340_000],
    ["24h1ms", 86_400_001],
    ["10s10s", 20_000],
    ["999999999ms", 999_999_999]
  ])("%s is read as %d ms", (text, length) => {
    expect(durationMs(text)).toBe(length)
    expect(DURATION.test(text)).toBe(true)
    expect(Schema.decodeSync(DurationText)(` ${text} `)).toBe(length)
  })

  it.each(["", "1", "h", "1 h", "-1h", "1.5h", "1h ", " 1h", "x1h", "1hx", "1w", "1234567890ms"])(
    "%j is not a length of time",
    (text) => expect(durationMs(text)).toBeUndefined()
  )

  it("a text that is not a length of time is refused with an example, and lengths are written in milliseconds", () => {
    const result = ParseResult.decodeUnknownEither(DurationText)("soon")
    expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
      { message: "must be a length of time in d, h, m, s and ms, such as 60d, 23h59m or 24h1ms" }
    ])
    expect(Schema.encodeSync(DurationText)(90_000)).toBe("90000ms")
  })
})

describe("a length of time in words", () => {
  it.each([
    [0, "0 seconds"],
    [1, "1 second"],
    [59, "59 seconds"],
    [60, "1 minute"],
    [61, "1 minute 1 second"],
    [3600, "1 hour"],
    [2 * 3600 + 180, "2 hours 3 minutes"],
    [3600 + 59, "1 hour"],
    [DAY, "1 day"],
    [5 * DAY + 3600, "5 days 1 hour"],
    [365 * DAY, "1 year"],
    [730 * DAY + 3 * DAY, "2 years 3 days"]
  ])("%d seconds are written as %j", (seconds, words) => {
    expect(durationInWords(seconds)).toBe(words)
  })
})
