import { DateTime, Either, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nextMidnight, TimeZone } from "../../src/domain/CalendarDay.js"
import { HOUR_MS, MINUTE_MS, toIso } from "../../src/domain/Instant.js"

const zone = Schema.decodeSync(TimeZone)

describe("time zones", () => {
  it.each(["Africa/Tunis", "UTC", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "Etc/GMT+5", " Europe/Paris "])(
    "%j is a known time zone",
    (name) => expect(Schema.decodeUnknownEither(TimeZone)(name)).toEqual(Either.right(name.trim()))
  )

  it.each(["", "Tunis", "Mars/Olympus", "+01:00", "-0100", "Z", "GMT+1", "Africa Tunis", "x".repeat(100_000)])(
    "a text that is not a time zone is refused with an example (case %#)",
    (name) => {
      const result = ParseResult.decodeUnknownEither(TimeZone)(name)
      expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
        { message: "must be an IANA time zone such as Africa/Tunis" }
      ])
    }
  )
})

describe("a shop's day ends at its next midnight (Specification, Limits)", () => {
  it.each([
    ["an ordinary day", "Africa/Tunis", "2026-11-20T10:20:42.123Z", "2026-11-20T23:00:00.000Z"],
    ["the last millisecond", "Africa/Tunis", "2026-11-20T22:59:59.999Z", "2026-11-20T23:00:00.000Z"],
    ["midnight itself begins a day", "Africa/Tunis", "2026-11-20T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
    ["UTC", "UTC", "2026-12-31T12:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["a day of 23 hours", "Europe/Paris", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
    ["after its change of clocks", "Europe/Paris", "2026-03-29T01:00:00.000Z", "2026-03-29T22:00:00.000Z"],
    ["a day of 25 hours", "Europe/Paris", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"],
    ["in the hour that comes twice", "Europe/Paris", "2026-10-25T01:30:00.000Z", "2026-10-25T23:00:00.000Z"],
    ["no midnight in Cairo", "Africa/Cairo", "2026-04-23T12:00:00.000Z", "2026-04-23T22:00:00.000Z"],
    ["no midnight in Santiago", "America/Santiago", "2026-09-05T20:00:00.000Z", "2026-09-06T04:00:00.000Z"],
    ["no midnight in Beirut", "Asia/Beirut", "2026-03-28T12:00:00.000Z", "2026-03-28T22:00:00.000Z"],
    ["back over midnight in Santiago", "America/Santiago", "2026-04-05T02:30:00.000Z", "2026-04-05T04:00:00.000Z"],
    ["its 23rd hour again", "America/Santiago", "2026-04-05T03:30:00.000Z", "2026-04-05T04:00:00.000Z"],
    ["midnight twice in Havana", "America/Havana", "2026-10-31T12:00:00.000Z", "2026-11-01T04:00:00.000Z"],
    ["between Havana's two midnights", "America/Havana", "2026-11-01T04:30:00.000Z", "2026-11-02T05:00:00.000Z"],
    ["a zone with seconds", "Africa/Monrovia", "1960-06-29T00:44:29.999Z", "1960-06-29T00:44:30.000Z"],
    ["half an hour", "Asia/Kolkata", "2026-11-20T18:29:59.999Z", "2026-11-20T18:30:00.000Z"],
    ["three quarters", "Asia/Kathmandu", "2026-11-20T12:00:00.000Z", "2026-11-20T18:15:00.000Z"],
    ["a change of half an hour", "Australia/Lord_Howe", "2026-10-03T14:00:00.000Z", "2026-10-04T13:00:00.000Z"],
    ["fourteen hours ahead", "Pacific/Kiritimati", "2026-11-20T09:59:59.999Z", "2026-11-20T10:00:00.000Z"],
    ["a skipped day in Apia", "Pacific/Apia", "2011-12-30T09:00:00.000Z", "2011-12-30T10:00:00.000Z"],
    [
      "a minute past midnight back to eleven",
      "America/St_Johns",
      "2010-11-07T02:30:30.000Z",
      "2010-11-08T03:30:00.000Z"
    ]
  ])("%s: the day in %s that contains %s ends at %s", (_, name, now, midnight) => {
    expect(toIso(nextMidnight(Date.parse(now), zone(name)))).toBe(midnight)
  })

  const names = [
    ...["Africa/Tunis", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Gaza", "Asia/Kolkata", "Asia/Tehran"],
    ...["America/Santiago", "America/Asuncion", "America/Havana", "America/New_York", "America/Sao_Paulo"],
    ...["America/St_Johns", "Atlantic/Azores", "Australia/Lord_Howe", "Europe/London", "Europe/Paris", "Pacific/Apia"],
    ...["Pacific/Chatham", "Pacific/Kiritimati", "Antarctica/Troll"]
  ]
  const instants = fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2035, 0, 1) })

  it("the next midnight is the first instant of a later date in the calendar", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), instants, (name, now) => {
        const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: name, dateStyle: "short" })
        const today = calendar.format(now)
        const midnight = nextMidnight(now, zone(name))
        expect(calendar.format(midnight) > today).toBe(true)
        for (let at = midnight - 1; at > now; at -= 15 * MINUTE_MS) expect(calendar.format(at) <= today).toBe(true)
        expect(midnight - now).toBeLessThanOrEqual(26 * HOUR_MS)
      }),
      { numRuns: 300 }
    )
  })

  it("the next midnight agrees with Effect's calendar since 2012, because no zone in the list has set its clocks back at 00:01 since then", () => {
    const since2012 = fc.integer({ min: Date.UTC(2012, 0, 1), max: Date.UTC(2035, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...names), since2012, (name, now) => {
        const zoned = DateTime.unsafeMakeZoned(now, { timeZone: name })
        const tomorrow = DateTime.startOf(DateTime.add(zoned, { days: 1 }), "day")
        expect(toIso(nextMidnight(now, zone(name)))).toBe(toIso(DateTime.toEpochMillis(tomorrow)))
      }),
      { numRuns: 500 }
    )
  })
})
