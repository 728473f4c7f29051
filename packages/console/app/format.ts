import type { History, Move } from "./model.js"

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1]
] as const

/** A duration with all its parts, as the sandbox and scenarios accept it: `24h1ms`. */
export const exactDuration = (ms: number): string => {
  let left = ms
  const parts = UNITS.flatMap(([unit, length]) => {
    const n = Math.floor(left / length)
    left -= n * length
    return n > 0 ? [`${n}${unit}`] : []
  })
  return parts.join("") || "0ms"
}

const WORDS =
  /^(?:(\d+(?:[.,]\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d|weeks?|w)[\s,]*)+$/i
const WEEK = ["w", 604_800_000] as const

/** The offset of a time zone from UTC at an instant, in milliseconds. */
const offsetOf = (zone: string, at: number): number => {
  const wallTime = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(
    at
  )
  return Date.parse(`${wallTime.replace(" ", "T")}Z`) - Math.floor(at / 1000) * 1000
}

/**
 * Converts a typed move of the clock to a request to the sandbox. The text is a duration (`24h1ms`, `3 days`), or a
 * date with or without a time, in the zone unless it has an offset. Null if it is neither.
 */
export const clockMoveOf = (text: string, zone: string): { advance: string } | { to: string } | null => {
  if (WORDS.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:[.,]\d+)?)\s*(ms|milli|[a-z])/gi)]
    const ms = parts.reduce((sum, [, n = "", unit = ""]) => {
      const name = /^m(s|illi)$/i.test(unit) ? "ms" : unit.toLowerCase()
      const [, length] = [...UNITS, WEEK].find(([one]) => one === name)!
      return sum + Number(n.replace(",", ".")) * length
    }, 0)
    return { advance: exactDuration(Math.round(ms)) }
  }
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) return null
  const instant = text.replace(" ", "T")
  const isWhole = /(Z|[+-]\d\d:\d\d)$/.test(instant.slice(10))
  const local = Date.parse(isWhole ? instant : `${instant.length === 10 ? `${instant}T00:00` : instant}Z`)
  if (Number.isNaN(local)) return null
  // The offset is computed again, because the offset at the instant may differ from the offset at the same time in UTC.
  const at = isWhole ? local : local - offsetOf(zone, local - offsetOf(zone, local))
  return { to: new Date(at).toISOString() }
}

/** A duration for people, with its two largest parts: `2 d 7 h`. */
export const roughDuration = (ms: number): string => {
  const abs = Math.abs(ms)
  if (abs < 1000) return `${Math.round(abs)} ms`
  const first = UNITS.findIndex(([, length]) => abs >= length)
  const [unit, length] = UNITS[first]!
  const n = Math.floor(abs / length)
  const next = UNITS[first + 1]!
  const rest = Math.floor((abs - n * length) / next[1])
  return rest > 0 && next[0] !== "ms" ? `${n} ${unit} ${rest} ${next[0]}` : `${n} ${unit}`
}

/** A number with its noun: `1 stamp`, `2 stamps`. */
export const pluralize = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`

const formats = new Map<string, Intl.DateTimeFormat>()
const formatIn = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const id = zone + JSON.stringify(options)
  const formatter =
    formats.get(id) ?? new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options })
  formats.set(id, formatter)
  return formatter
}

const DAY = { weekday: "short", day: "numeric", month: "short" } as const
const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const

/** `Sun 22 Nov` in a time zone. */
export const dayIn = (zone: string, at: number): string => formatIn(zone, DAY).format(at).replaceAll(",", "")

/** `21:00:52` in a time zone. */
export const timeIn = (zone: string, at: number): string => formatIn(zone, TIME).format(at)

/** `21:00` in a time zone. */
export const minuteIn = (zone: string, at: number): string =>
  formatIn(zone, { hour: "2-digit", minute: "2-digit" }).format(at)

/** The year in a time zone. */
export const yearIn = (zone: string, at: number): string => formatIn(zone, { year: "numeric" }).format(at)

/** `Sun 22 Nov 21:00:52` in a time zone. */
export const instantIn = (zone: string, at: number): string => `${dayIn(zone, at)} ${timeIn(zone, at)}`

/** A time, with its day unless that is today. */
export const shortIn = (zone: string, at: number, now: number): string =>
  dayIn(zone, at) === dayIn(zone, now) ? timeIn(zone, at) : `${dayIn(zone, at).slice(4)} ${minuteIn(zone, at)}`

/** An amount with its currency: `45.000 TND`. */
export const amount = (minor: number, { decimals, currency }: { decimals: number; currency: string }): string =>
  `${(minor / 10 ** decimals).toFixed(decimals)} ${currency}`

/** The minor units that somebody typed as `45`, `45.5` or `45,500`; null if the text is not an amount. */
export const minorOf = (text: string, decimals: number): number | null => {
  const [, whole, fraction = ""] = /^(\d+)(?:[.,](\d*))?$/.exec(text.trim()) ?? []
  return whole === undefined || fraction.length > decimals ? null : Number(whole + fraction.padEnd(decimals, "0"))
}

/** The message for a text that {@link minorOf} cannot read. */
export const noPrice = (text: string): string =>
  `"${text}" is not a price. Enter an amount without a currency, such as 45 or 45.5.`

/** Why an act would be refused, in words; the API's name of the reason if there are no words for it. */
export const refusalText = ({ act, reason }: Move, { ticket, windows }: History, now: number): string => {
  if (act === `status:${ticket.state}` || (reason === "QUOTE_CLOSED" && ticket.state === "collected"))
    return `already ${ticket.state}`
  if (reason === "QUOTE_CLOSED")
    return ticket.quote === null ? "no price was proposed" : `price already ${ticket.quote.status}`
  const end = windows.findLast(({ kind }) => kind === "reopen")?.to
  if (reason === "REOPEN_WINDOW" && end !== undefined)
    return `reopening ended ${roughDuration(now - Date.parse(end))} ago`
  return (reason ?? "").replaceAll("_", " ").toLowerCase()
}

/** A JSON text with indented lines; the text itself if it is not JSON. */
export const indentJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
