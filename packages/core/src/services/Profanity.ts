import { Effect, Layer } from "effect"
import { everyLanguage, languagesOf } from "../domain/DefaultWords.js"
import type { FoundWord } from "../domain/ForbiddenWord.js"
import * as WordList from "../domain/WordList.js"
import { type FieldText, ProfanityFilter } from "../ports/ProfanityFilter.js"

const makeFilter = (list: WordList.WordList, toFoundWord: (field: string, word: string) => FoundWord) => ({
  find: (texts: ReadonlyArray<FieldText>) =>
    Effect.sync(() =>
      texts.flatMap(([field, text]) => WordList.findWords(list, text).map((word) => toFoundWord(field, word)))
    )
})

/** A filter that refuses every text with one of the words or phrases, in shops of every language. */
export const layerWords = (words: Iterable<string>): Layer.Layer<ProfanityFilter> =>
  Layer.sync(ProfanityFilter, () => makeFilter(WordList.makeWordList(words), (field, word) => ({ field, word })))

/** The usual insults in each shop's languages (Specification, Errors). */
export const layer: Layer.Layer<ProfanityFilter> = Layer.succeed(
  ProfanityFilter,
  makeFilter(everyLanguage, (field, word) => ({ field, word, languages: languagesOf(word) }))
)
