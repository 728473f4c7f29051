import type { Language } from "./Language.js"
import * as WordList from "./WordList.js"
import { Arabic } from "./words/Arabic.js"
import { English } from "./words/English.js"
import type { LanguageWords } from "./words/entries.js"
import { French } from "./words/French.js"
import { German } from "./words/German.js"
import { Italian } from "./words/Italian.js"
import { Spanish } from "./words/Spanish.js"

/**
 * The words that are refused on tickets if the embedder provides no list, by language (Specification, Errors). A word is listed only if it
 * is an insult or an obscenity in that language, because a false refusal keeps a client waiting at the counter, which is worse than a word
 * that slips through.
 */
export const defaultWords = {
  ar: Arabic,
  de: German,
  en: English,
  es: Spanish,
  fr: French,
  it: Italian
} as const satisfies Readonly<Record<Language, LanguageWords>>

const languages = Object.keys(defaultWords) as ReadonlyArray<Language>

/** The forbidden words of all languages. */
export const everyLanguage: WordList.WordList = WordList.makeWordList(
  languages.flatMap((language) => defaultWords[language].rude)
)

const languagesByWord = new Map<string, Array<Language>>()
for (const language of languages) {
  for (const word of defaultWords[language].rude.map(WordList.normalizeEntry)) {
    languagesByWord.set(word, [...(languagesByWord.get(word) ?? []), language])
  }
}

/** The languages in which a word of {@link everyLanguage} is forbidden. */
export const languagesOf = (word: string): ReadonlyArray<Language> => languagesByWord.get(word) ?? []

const plainWordLists = new Map(
  languages.map((language) => [language, WordList.makeWordList(defaultWords[language].plain)])
)

/** The harmless words of a language that look like forbidden ones. */
export const plainWordsOf = (language: Language): WordList.WordList =>
  plainWordLists.get(language) ?? WordList.makeWordList([])
