/** The meaning of a piece of text, which decides its colour. */
export type Tone = "good" | "bad" | "warn" | "name" | "faint" | "strong"

/** The codes with which a terminal begins and ends each style (ECMA-48, Select Graphic Rendition). */
const STYLES = {
  good: { begin: 32, end: 39 },
  bad: { begin: 31, end: 39 },
  warn: { begin: 33, end: 39 },
  name: { begin: 36, end: 39 },
  faint: { begin: 90, end: 39 },
  strong: { begin: 1, end: 22 }
} as const satisfies Record<Tone, { readonly begin: number; readonly end: number }>

/** Colours a text by its tone, or returns it unchanged. */
export type Paint = (tone: Tone, text: string) => string

/** Returns every text without colours. */
export const paintPlain: Paint = (_, text) => text

/** Colours every text, even if standard output is not a terminal. */
export const paintColoured: Paint = (tone, text) => {
  const { begin, end } = STYLES[tone]
  return text === "" ? text : `\u001b[${begin}m${text}\u001b[${end}m`
}
