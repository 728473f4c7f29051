/** Reads a list that is written as a text, between commas. */
export const entries = (text: string): ReadonlyArray<string> => text.split(",").map((entry) => entry.trim())

/** The forbidden words of a language, and its harmless words that look like forbidden ones. */
export interface LanguageWords {
  /** Insults and obscenities, in the spellings in which they are met. */
  readonly rude: ReadonlyArray<string>
  /** Words and phrases of the trade that hold one, of this or another language. */
  readonly plain: ReadonlyArray<string>
}
