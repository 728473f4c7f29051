/** Splits a text at its commas. */
export const splitEntries = (text: string): ReadonlyArray<string> => text.split(",").map((entry) => entry.trim())

/** The forbidden words of a language, and its harmless words that look like forbidden ones. */
export interface LanguageWords {
  /** Insults and obscenities, in their common spellings. */
  readonly rude: ReadonlyArray<string>
  /** Words and phrases of the trade that contain a forbidden word of this or another language. */
  readonly plain: ReadonlyArray<string>
}
