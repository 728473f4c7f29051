/*
 * Replaces `Date.toISOString`: an instant took 0.05 µs in place of 0.46 µs. `npm run bench -- fast` compares the two
 * (docs/how-it-is-built.md), and test/fast/isoText.test.ts proves that they write the same text.
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const padNumbers = (count: number, digits: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => String(n).padStart(digits, "0"))

const TWO_DIGITS = padNumbers(60, 2)
const THREE_DIGITS = padNumbers(1000, 3)

const MAX_CACHED_DATES = 1024
const dates = new Map<number, string>()

/** The date of a day, counted from 1970-01-01. */
const dateOf = (day: number): string => {
  const cached = dates.get(day)
  if (cached !== undefined) return cached
  const date = new Date(day * DAY_MS).toISOString().slice(0, -"T00:00:00.000Z".length)
  if (dates.size >= MAX_CACHED_DATES) dates.clear()
  dates.set(day, date)
  return date
}

/**
 * Returns `new Date(instant).toISOString()`. It caches the date, because a list of a hundred tickets contains hundreds
 * of instants, mostly of the same day.
 */
export const isoText = (instant: number): string => {
  const day = Math.floor(instant / DAY_MS)
  const ms = instant - day * DAY_MS
  const hours = TWO_DIGITS[Math.floor(ms / HOUR_MS)]
  const minutes = TWO_DIGITS[Math.floor(ms / 60_000) % 60]
  const seconds = TWO_DIGITS[Math.floor(ms / 1000) % 60]
  return `${dateOf(day)}T${hours}:${minutes}:${seconds}.${THREE_DIGITS[ms % 1000]}Z`
}
