import { Context, type Effect } from "effect"
import type { FoundWord } from "../domain/ForbiddenWord.js"

/** A text of an input, with its dotted path. */
export type FieldText = readonly [field: string, text: string]

/** The embedder's filter of texts (Specification, Errors). Shops forbid further words, and allow some of the filter's. */
export class ProfanityFilter extends Context.Tag("@workshop/core/ProfanityFilter")<
  ProfanityFilter,
  {
    /** The forbidden words in the texts, in the order of the texts. It runs before every create, so it must be quick. */
    readonly find: (texts: ReadonlyArray<FieldText>) => Effect.Effect<ReadonlyArray<FoundWord>>
  }
>() {}
