import { Either, Schema } from "effect"
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from "./Instant.js"
import { makeTextSchema, type ReadResult } from "./Text.js"

// Formatters are cached, because creating one takes 65 µs and using it 1 µs, and every creation of a ticket needs one
// for a day's limits. The cache is bounded by the number of IANA's zones.
const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (name: string): Intl.DateTimeFormat => {
  const key = name.toLowerCase()
  const cached = formatters.get(key)
  if (cached !== undefined) return cached
  const formatter = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" })
  formatters.set(key, formatter)
  return formatter
}

// On some platforms Intl also accepts offsets such as +01:00, which are not zones and have no calendar.
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

const isTimeZone = (name: string): boolean => {
  if (!NAME.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

const REFUSED = Either.left("must be an IANA time zone such as Africa/Tunis")

const readTimeZone = (text: string): ReadResult<string> => {
  const name = text.trim()
  return isTimeZone(name) ? Either.right(name) : REFUSED
}

/**
 * The IANA name of a shop's time zone, such as `Africa/Tunis`, stored as given. The platform must know the zone; case does not matter
 * (Specification, Clients and loyalty; Limits: a shop's day is its own calendar day).
 */
export const TimeZone = makeTextSchema(readTimeZone, {
  type: "string",
  description: "An IANA time zone",
  examples: ["Africa/Tunis"]
}).pipe(Schema.brand("TimeZone"))
/** The IANA name of a time zone that this runtime knows, such as `Africa/Tunis`. */
export type TimeZone = typeof TimeZone.Type

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** How far the zone's clocks are ahead of UTC, in milliseconds. */
const offsetAt = (formatter: Intl.DateTimeFormat, instant: Instant): number => {
  const match = OFFSET.exec(formatter.format(instant))
  if (match === null) throw new Error("Intl returned no offset for a time zone")
  const [, sign, hours, minutes, seconds] = match
  const offset_ms = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * SECOND_MS
  return sign === "-" ? -offset_ms : offset_ms
}

/**
 * The first instant after `now` of a later calendar day of the zone, which ends the shop's day (Specification, Clients
 * and loyalty; Limits): midnight, or if the clocks skip midnight, the instant of the change. Effect's `DateTime` takes
 * fifteen times as long, and returns a past instant where clocks went back across midnight at 00:01 (Canada until
 * 2011); tests check that both agree everywhere else.
 */
export const nextMidnight = (now: Instant, time_zone: TimeZone): Instant => {
  const formatter = formatterOf(time_zone)
  const offset = offsetAt(formatter, now)
  const next_day = Math.floor((now + offset) / DAY_MS) + 1
  const unchanged = next_day * DAY_MS - offset
  if (offsetAt(formatter, unchanged) === offset) return unchanged

  // The offset changes once between the two instants. The loop finds the first instant of the new offset.
  let [before, changed] = [now, unchanged]
  while (changed - before > 1) {
    const middle = Math.floor((before + changed) / 2)
    if (offsetAt(formatter, middle) === offset) before = middle
    else changed = middle
  }
  const new_offset = offsetAt(formatter, changed)
  return Math.max(changed, next_day * DAY_MS - new_offset)
}
