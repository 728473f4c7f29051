import { Either, JSONSchema, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  DAY_MS,
  DateOrDateTimeText,
  DateTimeText,
  HOUR_MS,
  InstantNumber,
  MINUTE_MS,
  SECOND_MS,
  toIso,
  toIsoOrNull
} from "../../src/domain/Instant.js"

const read = Schema.decodeUnknownEither(DateTimeText)
const readEither = Schema.decodeUnknownEither(DateOrDateTimeText)

describe("instants as text (Specification, Tickets)", () => {
  it("instants are written as ISO 8601 in UTC with milliseconds and Z", () => {
    expect(toIso(1_795_170_042_123)).toBe("2026-11-20T10:20:42.123Z")
    expect(toIso(0)).toBe("1970-01-01T00:00:00.000Z")
    expect(toIsoOrNull(0)).toBe("1970-01-01T00:00:00.000Z")
    expect(toIsoOrNull(null)).toBeNull()
  })

  it("instants are whole milliseconds of the years 1 to 9999", () => {
    const isInstant = Schema.is(InstantNumber)
    expect([-62_135_596_800_000, 0, 253_402_300_799_999].every((n) => isInstant(n))).toBe(true)
    expect([-62_135_596_800_001, 0.5, 253_402_300_800_000].some((n) => isInstant(n))).toBe(false)
  })

  it("the constants of a second, a minute, an hour and a day are in milliseconds", () => {
    expect([SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS]).toEqual([1000, 60_000, 3_600_000, 86_400_000])
  })
})

describe("a date and time from outside (Specification, Tickets)", () => {
  it.each([
    ["2026-11-20T10:20:42Z", "2026-11-20T10:20:42.000Z"],
    [" 2026-11-20T10:20:42Z\n", "2026-11-20T10:20:42.000Z"],
    ["2026-11-20T10:20Z", "2026-11-20T10:20:00.000Z"],
    ["2026-11-20T10:20+01:00", "2026-11-20T09:20:00.000Z"],
    ["2026-11-20T10:20+01:59", "2026-11-20T08:21:00.000Z"],
    ["2026-11-20T00:20:00+01:00", "2026-11-19T23:20:00.000Z"],
    ["2026-11-20T10:20:42-03:30", "2026-11-20T13:50:42.000Z"],
    ["2026-11-20T10:20:42-00:00", "2026-11-20T10:20:42.000Z"],
    ["2026-11-20T10:20:42.1Z", "2026-11-20T10:20:42.100Z"],
    ["2026-11-20T10:20:42.1230000000000000000Z", "2026-11-20T10:20:42.123Z"],
    ["2026-11-20t10:20:42z", "2026-11-20T10:20:42.000Z"],
    ["2026-11-20t10:20:42.1+01:00", "2026-11-20T09:20:42.100Z"],
    ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00.000Z"],
    ["0099-06-01T00:00:00Z", "0099-06-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
  ])("%j is read as %s", (input, iso) => {
    expect(Either.map(read(input), toIso)).toEqual(Either.right(iso))
    expect(Either.map(readEither(input), toIso)).toEqual(Either.right(iso))
  })

  it.each([
    ["2026-11-20T10:20:42.1239999999999999999Z", "2026-11-20T10:20:42.123Z", "2026-11-20T10:20:42.124Z"],
    ["2026-11-20T10:20:42.12300000000000000001Z", "2026-11-20T10:20:42.123Z", "2026-11-20T10:20:42.124Z"],
    ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
  ])(
    "%j is truncated to %s, and as the bound of a query rounded up to %s (Specification, Lists and sync)",
    (input, cut, bound) => {
      expect(Either.map(read(input), toIso)).toEqual(Either.right(cut))
      expect(Either.map(readEither(input), toIso)).toEqual(Either.right(bound))
    }
  )

  it.each([
    "",
    "tomorrow",
    "2026-11-20T10:20:42+0100",
    "2026-11-20T10:20:42+01",
    "2026-11-20T10:20:42+24:00",
    "2026-11-20T10:20:42+01:60",
    "2026-11-20 10:20:42Z",
    "2026-11-20T10:20:42Z extra",
    "2026-11-20T10Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T23:60:00Z",
    "2026-12-31T23:59:60Z",
    "2026-11-20T10:20:42.Z",
    "2026-11-20T10:20.5Z",
    "2026-02-30T10:20:42Z",
    "2026-02-29T10:20:42Z",
    "1900-02-29T10:20:42Z",
    "2026-04-31T10:20:42Z",
    "2026-13-01T10:20:42Z",
    "2026-00-01T10:20:42Z",
    "2026-11-00T10:20:42Z",
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:30:00+01:00",
    "9999-12-31T23:30:00-01:00",
    "+12026-11-20T10:20:42Z",
    "20261120T102042Z",
    "1795170042123"
  ])("%j is refused with an example", (input) => {
    const result = ParseResult.decodeUnknownEither(DateTimeText)(input)
    expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
      { message: "must be a date and time such as 2026-11-20T10:20:42Z" }
    ])
    expect(Either.isLeft(readEither(input))).toBe(true)
  })

  it.each(["2026-11-20T10:20:42", " 2026-11-08T09:00 "])("%j is refused because it has no time zone", (input) => {
    for (const schema of [DateTimeText, DateOrDateTimeText])
      expect(() => Schema.decodeUnknownSync(schema)(input)).toThrow(
        "must end with a time zone: Z for UTC, or an offset such as +01:00"
      )
  })

  it("a + of an offset that arrived as a space is read as + in the bound of a query, and nowhere else (Specification, Requests and responses)", () => {
    expect(Either.map(readEither("2026-11-20T10:20:42 01:00"), toIso)).toEqual(Either.right("2026-11-20T09:20:42.000Z"))
    expect(Either.isLeft(readEither("2026-11-20 10:20"))).toBe(true)
    expect(Either.isLeft(read("2026-11-20T10:20:42 01:00"))).toBe(true)
  })

  it("a day that does not exist is refused, with any fraction of a second (Specification, Lists and sync)", () => {
    expect(() => Schema.decodeUnknownSync(DateOrDateTimeText)("2026-02-30T10:20:42.1239Z")).toThrow(
      "must be a date and time such as 2026-11-20T10:20:42Z, or a date such as 2026-11-20"
    )
  })

  it("a number is not accepted as a date and time", () => {
    const result = ParseResult.decodeUnknownEither(DateTimeText)(1_795_170_042_123)
    expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
      { message: "must be a string" }
    ])
  })

  it("an instant that was written is read back, to the millisecond, with any offset", () => {
    const years1to9999 = fc.integer({ min: -62_135_596_800_000 + DAY_MS, max: 253_402_300_799_999 - DAY_MS })
    fc.assert(
      fc.property(years1to9999, fc.integer({ min: -1439, max: 1439 }), (instant, minutes) => {
        expect(read(toIso(instant))).toEqual(Either.right(instant))
        const size = Math.abs(minutes)
        const offset = `${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`
        const wall = toIso(instant + minutes * MINUTE_MS).replace("Z", `${minutes < 0 ? "-" : "+"}${offset}`)
        expect(read(wall)).toEqual(Either.right(instant))
        expect(Schema.encodeSync(DateTimeText)(instant)).toBe(toIso(instant))
      })
    )
  })

  it("the OpenAPI schema of an instant has the format date-time", () => {
    expect(JSONSchema.make(DateTimeText)).toMatchObject({ type: "string", format: "date-time" })
    expect(JSONSchema.make(DateOrDateTimeText)).toMatchObject({
      anyOf: [
        { type: "string", format: "date-time" },
        { type: "string", format: "date" }
      ]
    })
  })
})

describe("a date in a query (Specification, Lists and sync)", () => {
  it("a date without a time in a query means 00:00 UTC", () => {
    expect(Either.map(readEither("2026-11-20"), toIso)).toEqual(Either.right("2026-11-20T00:00:00.000Z"))
  })

  it.each(["x2026-11-20", "2026-02-30", "2026-11", "0000-12-31", "2026-11-20Z"])(
    "%j is refused as a date in a query",
    (input) => {
      expect(Either.isLeft(readEither(input))).toBe(true)
    }
  )

  it("a date without a time is refused where a time is required", () => {
    expect(Either.isLeft(read("2026-11-20"))).toBe(true)
  })
})
