import { Context, type Effect } from "effect"
import type { FoundWord } from "../domain/ForbiddenWord.js"

/** A text of an input, with its dotted path. */
export type FieldText = readonly [field: string, text: string]

/** The embedder's judgement of texts (Specification, Errors). Shops add words of their own to it, and allow some of it. */
export class ProfanityFilter extends Context.Tag("@workshop/core/ProfanityFilter")<
  ProfanityFilter,
  {
    /** The words in the texts that must not be used, in the order of the texts. Asked before every create; keep it quick. */
    readonly find: (texts: ReadonlyArray<FieldText>) => Effect.Effect<ReadonlyArray<FoundWord>>
  }
>() {}
