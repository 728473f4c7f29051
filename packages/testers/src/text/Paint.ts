import { inspect } from "node:util"

/** The meaning of a piece of text, which decides its colour. */
export type Tone = "good" | "bad" | "warn" | "name" | "faint" | "strong"

const TONE_STYLES = {
  good: "green",
  bad: "red",
  warn: "yellow",
  name: "cyan",
  faint: "gray",
  strong: "bold"
} as const satisfies Record<Tone, string>

/** Colours a text by its tone, or returns it unchanged. */
export type Paint = (tone: Tone, text: string) => string

/** Returns every text without colours. */
export const paintPlain: Paint = (_, text) => text

/**
 * Colours every text, even if standard output is not a terminal. It does not use `util.styleText`, because some
 * versions of Node would return the text without colours then.
 */
export const paintColoured: Paint = (tone, text) => {
  const codes = inspect.colors[TONE_STYLES[tone]]
  return text === "" || codes === undefined ? text : `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`
}
