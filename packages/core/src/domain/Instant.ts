import { Either, ParseResult, Schema } from "effect"
import { isoText } from "../fast/isoText.js"

/** An instant: whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds. */
export type Instant = number

/** Milliseconds in a second. */
export const SECOND_MS = 1000
/** Milliseconds in a minute. */
export const MINUTE_MS = 60 * SECOND_MS
/** Milliseconds in an hour. */
export const HOUR_MS = 60 * MINUTE_MS
/** Milliseconds in 24 hours. A calendar day may have 23 or 25 hours: see `CalendarDay`. */
export const DAY_MS = 24 * HOUR_MS

// 0001-01-01T00:00:00.000Z, the earliest instant, because a year has four digits and no sign.
const FIRST_INSTANT: Instant = -62_135_596_800_000
/** 9999-12-31T23:59:59.999Z, the latest instant. */
export const LAST_INSTANT: Instant = 253_402_300_799_999

const isInstant = (n: number): boolean => Number.isInteger(n) && n >= FIRST_INSTANT && n <= LAST_INSTANT

/** An instant as a number. */
export const InstantNumber = Schema.Number.pipe(
  Schema.filter(isInstant, { message: () => "must be a whole number of milliseconds within the years 1 to 9999" })
)

/**
 * Formats an instant as ISO 8601 in UTC with milliseconds and `Z`, such as `2026-11-20T10:20:42.123Z` (Specification,
 * Tickets).
 */
export const toIso = (instant: Instant): string => isoText(instant)

/** Like `toIso`, but null stays null. */
export const toIsoOrNull = (instant: Instant | null): string | null => (instant === null ? null : toIso(instant))

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:Z|([+-])(\d{2}):(\d{2}))$/i

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

const daysInMonth = (year: number, month: number): number =>
  month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0)

/**
 * The instant of the parts of a text; undefined if the date does not exist. `Date.parse` would read 30 February as a
 * day in March.
 */
const parse = (parts: RegExpExecArray | null): Instant | undefined => {
  if (parts === null) return undefined
  const numberAt = (at: number): number => Number(parts[at] ?? 0)
  const [year, month, day, hour, minute, second] = [
    numberAt(1),
    numberAt(2),
    numberAt(3),
    numberAt(4),
    numberAt(5),
    numberAt(6)
  ]
  const [offset_hours, offset_minutes] = [numberAt(9), numberAt(10)]
  if (month < 1 || day < 1 || day > daysInMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || offset_hours > 23 || offset_minutes > 59) return undefined
  const milliseconds = Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"))
  const time_of_day = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + milliseconds
  const offset = (offset_hours * HOUR_MS + offset_minutes * MINUTE_MS) * (parts[8] === "-" ? -1 : 1)
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; `setUTCFullYear` does not.
  const instant = new Date(0).setUTCFullYear(year, month - 1, day) + time_of_day - offset
  return isInstant(instant) ? instant : undefined
}

const NO_ZONE = "must end with a time zone: Z for UTC, or an offset such as +01:00"

const TEXT = Schema.String.annotations({ message: () => "must be a string" })

const instantFrom = (
  read: (text: string) => Instant | undefined,
  { refused, jsonSchema }: { readonly refused: string; readonly jsonSchema: object }
): Schema.Schema<Instant, string> =>
  Schema.transformOrFail(TEXT, InstantNumber, {
    strict: true,
    decode: (text, _, ast) => {
      const instant = read(text)
      if (instant !== undefined) return Either.right(instant)
      return Either.left(new ParseResult.Type(ast, text, read(`${text.trim()}Z`) === undefined ? refused : NO_ZONE))
    },
    encode: (instant) => Either.right(toIso(instant))
  }).annotations({ jsonSchema })

const EXAMPLE = "2026-11-20T10:20:42Z"

/**
 * An ISO 8601 date and time with `Z` or an offset from UTC, decoded to an instant. Seconds are optional; a fraction of a second may have
 * any length and is cut to milliseconds. Dates that do not exist are refused (Specification, Tickets).
 */
export const DateTimeText = instantFrom((text) => parse(DATE_TIME.exec(text.trim())), {
  refused: `must be a date and time such as ${EXAMPLE}`,
  jsonSchema: {
    type: "string",
    format: "date-time",
    description: "An ISO 8601 date and time with Z or an offset from UTC",
    examples: [EXAMPLE]
  }
})

/** The first instant that is not before a date, or a date and time. The `+` of an offset may arrive as a space. */
const startOf = (text: string): Instant | undefined => {
  const parts = DATE_TIME.exec(text.replace(/ (?=\d{2}:\d{2}$)/, "+"))
  const instant = parse(parts ?? DATE.exec(text))
  const isBetween = /[1-9]/.test((parts?.[7] ?? "").slice(3))
  return instant !== undefined && isBetween ? Math.min(instant + 1, LAST_INSTANT) : instant
}

/**
 * A limit of a period: like `DateTimeText`, or a bare date, which means 00:00 UTC of that day (Specification, Lists and
 * sync). A fraction between two milliseconds is rounded up, so that every instant stays on its side of the limit. A
 * space is read as the `+` of the offset, because an unescaped `+` arrives as a space in a query (Specification, Lists
 * and sync).
 */
export const DateOrDateTimeText = instantFrom((text) => startOf(text.trim()), {
  refused: `must be a date and time such as ${EXAMPLE}, or a date such as 2026-11-20`,
  jsonSchema: {
    // The type is repeated in each branch, because generators read each branch alone and would treat one without a type as any value.
    anyOf: [
      { type: "string", format: "date-time" },
      { type: "string", format: "date" }
    ],
    description: "An ISO 8601 date and time with Z or an offset from UTC; a bare date means 00:00 UTC",
    examples: [EXAMPLE, "2026-11-20"]
  }
})

const UNITS = [
  ["year", 365 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1]
] as const

const withUnit = (amount: number, unit: string): string => `${amount} ${unit}${amount === 1 ? "" : "s"}`

/** A length of time in its largest unit and the next smaller one, such as `2 years 3 days`; a year has 365 days. */
export const durationInWords = (seconds: number): string => {
  const first = UNITS.findIndex(([, length]) => seconds >= length)
  const [[unit, length], next] = first === -1 ? [UNITS[4], undefined] : [UNITS[first]!, UNITS[first + 1]]
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[1])
  const largest = withUnit(Math.floor(seconds / length), unit)
  return next === undefined || rest === 0 ? largest : `${largest} ${withUnit(rest, next[0])}`
}
