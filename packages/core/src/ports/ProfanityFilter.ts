import { Context, type Effect } from "effect"

/** A text of an input, with its dotted path. */
export type FieldText = readonly [field: string, text: string]

/** The embedder's judgement of texts (spec §7); shops add words of their own to it. */
export class ProfanityFilter extends Context.Tag("@workshop/core/ProfanityFilter")<
  ProfanityFilter,
  {
    /** The path of the first text that must not be used, or null. Asked before every create; keep it quick. */
    readonly find: (texts: ReadonlyArray<FieldText>) => Effect.Effect<string | null>
  }
>() {}
