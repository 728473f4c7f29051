/** One second, in milliseconds. */
export const SECOND = 1000
/** One minute, in milliseconds. */
export const MINUTE = 60 * SECOND
/** One hour, in milliseconds. */
export const HOUR = 60 * MINUTE
/** Twenty-four hours, in milliseconds. */
export const DAY = 24 * HOUR

/** An instant this many milliseconds after another, as the API writes it. */
export const addMs = (instant: string, ms: number): string => new Date(Date.parse(instant) + ms).toISOString()

/** The warning before a command moves the clock of a running sandbox, which others may use. */
export const clockWarning = (subject: string, baseUrl: string): string =>
  `${subject} the sandbox's clock at ${baseUrl} forward, for everybody who uses that sandbox.`
