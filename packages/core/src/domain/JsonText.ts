let last: object | undefined
let last_text = ""

/**
 * The JSON of a value that never changes again. The last text is cached: a command's result is stored for replays, raised in its event and
 * sent, one right after another, and all three share one text.
 */
export const jsonText = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (value !== last) {
    last_text = JSON.stringify(value)
    last = value
  }
  return last_text
}
