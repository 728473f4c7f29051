import { Context, type Effect } from "effect"
import type { FoundWord } from "../domain/ForbiddenWord.js"

/** A text of an input, with its path, such as `items.0.label`. */
export type FieldText = readonly [field: string, text: string]

/** The embedder's filter of texts (Specification, Errors). Each shop can forbid further words, and allow words that the filter forbids. */
export class ProfanityFilter extends Context.Tag("@workshop/core/ProfanityFilter")<
  ProfanityFilter,
  {
    /** Finds the forbidden words in the texts, in the order of the texts. It runs before every ticket is created, so it must be fast. */
    readonly find: (texts: ReadonlyArray<FieldText>) => Effect.Effect<ReadonlyArray<FoundWord>>
  }
>() {}
