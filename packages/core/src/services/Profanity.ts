import { Effect, Layer } from "effect"
import * as WordList from "../domain/WordList.js"
import { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { DefaultWords } from "./DefaultWords.js"

/** A filter that refuses every text in which a word of the list stands. */
export const layerWords = (list: WordList.WordList): Layer.Layer<ProfanityFilter> =>
  Layer.succeed(ProfanityFilter, {
    find: (texts) => Effect.sync(() => texts.find(([, text]) => WordList.contains(list, text))?.[0] ?? null)
  })

/** The usual English and French words (contract §2). */
export const layer: Layer.Layer<ProfanityFilter> = layerWords(DefaultWords)
