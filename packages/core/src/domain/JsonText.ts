let last: object | undefined
let last_text = ""

/**
 * The JSON of a value that nothing changes any more. The last one is kept: what a command answers is remembered, raised
 * in its event and sent, one right after another, and all three share one text instead of holding three.
 */
export const jsonText = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (value !== last) {
    last_text = JSON.stringify(value)
    last = value
  }
  return last_text
}
