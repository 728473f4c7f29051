import { Either, Schema } from "effect"
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from "./Instant.js"
import { keptText, type Reading } from "./Text.js"

// Making a formatter costs 65 µs, asking one for an offset 1 µs, and a day's limits ask on the path of every create:
// they are kept. There are no more of them than IANA has names.
const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (name: string): Intl.DateTimeFormat => {
  const key = name.toLowerCase()
  const known = formatters.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" })
  formatters.set(key, made)
  return made
}

// Intl also takes bare offsets such as +01:00 on some platforms; those are no zones and know no calendar.
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

const read = (text: string): Reading<string> => {
  const name = text.trim()
  return isTimeZone(name) ? Either.right(name) : REFUSED
}

/**
 * The name of a shop's time zone in the IANA database, such as `Africa/Tunis`, kept as given. The platform must know
 * it, whatever its case (Specification, Clients and loyalty; Limits: a shop's day is its own calendar day).
 */
export const TimeZone = keptText(read, {
  type: "string",
  description: "An IANA time zone",
  examples: ["Africa/Tunis"]
}).pipe(Schema.brand("TimeZone"))
export type TimeZone = typeof TimeZone.Type

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** How far the zone's clocks are ahead of UTC, in milliseconds. */
const offsetAt = (formatter: Intl.DateTimeFormat, instant: Instant): number => {
  const found = OFFSET.exec(formatter.format(instant))
  if (found === null) throw new Error("Intl gave no offset for a time zone")
  const [, sign, hours, minutes, seconds] = found
  const size = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * SECOND_MS
  return sign === "-" ? -size : size
}

/**
 * The first instant after `now` that belongs to a later calendar day of the zone: where a shop's day ends
 * (Specification, Clients and loyalty; Limits). Midnight itself, unless the clocks jump over it; then the instant of the jump.
 * Effect's `DateTime` takes fifteen times as long, and answers with the past where clocks went back over midnight at
 * one minute past (Canada until 2011); elsewhere the two agree, and the tests hold them to it.
 */
export const nextMidnight = (now: Instant, time_zone: TimeZone): Instant => {
  const formatter = formatterOf(time_zone)
  const offset = offsetAt(formatter, now)
  const next_day = Math.floor((now + offset) / DAY_MS) + 1
  const unchanged = next_day * DAY_MS - offset
  if (offsetAt(formatter, unchanged) === offset) return unchanged

  // The clocks are changed on the way there, once: find the first instant of the new offset.
  let [before, changed] = [now, unchanged]
  while (changed - before > 1) {
    const middle = Math.floor((before + changed) / 2)
    if (offsetAt(formatter, middle) === offset) before = middle
    else changed = middle
  }
  const new_offset = offsetAt(formatter, changed)
  return Math.max(changed, next_day * DAY_MS - new_offset)
}
