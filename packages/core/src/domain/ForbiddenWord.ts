import { Data } from "effect"
import type { Language } from "./Language.js"

/** A word that was found in a text, and that a shop may refuse. */
export interface FoundWord {
  /** The dotted path of the text, such as `items.1.label`. */
  readonly field: string
  /** The word as it is in the text; a shop that allows it names this form. */
  readonly word: string
  /** Only shops with one of these languages refuse the word; if undefined, every shop does. */
  readonly languages?: ReadonlyArray<Language>
}

/**
 * A text contains a word of the embedder's list or of the shop's own (Specification, Errors). `field` is its dotted path, such as
 * `items.1.label`.
 */
export class ForbiddenWord extends Data.TaggedError("ForbiddenWord")<{ readonly field: string }> {
  override get message() {
    return `The text of ${this.field} contains a forbidden word; use other words`
  }
}
