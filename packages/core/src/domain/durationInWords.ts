const UNITS = [
  ["year", 365 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1]
] as const

const counted = (amount: number, unit: string): string => `${amount} ${unit}${amount === 1 ? "" : "s"}`

/** A length of time in its largest unit and the next one, such as `2 years 3 days`; a year has 365 days. */
export const durationInWords = (seconds: number): string => {
  const first = UNITS.findIndex(([, length]) => seconds >= length)
  const [[unit, length], next] = first === -1 ? [UNITS[4], undefined] : [UNITS[first]!, UNITS[first + 1]]
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[1])
  const largest = counted(Math.floor(seconds / length), unit)
  return next === undefined || rest === 0 ? largest : `${largest} ${counted(rest, next[0])}`
}
