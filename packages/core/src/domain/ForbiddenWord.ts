import { Data } from "effect"
import type { Language } from "./Language.js"

/** A word that was found in a text and may have to be refused. */
export interface FoundWord {
  /** The dotted path of the text, such as `items.1.label`. */
  readonly field: string
  /** As it is in the text; a shop that allows it gives this word. */
  readonly word: string
  /** Only shops of one of these languages refuse it; left out, every shop does. */
  readonly languages?: ReadonlyArray<Language>
}

/** A text holds a word from the embedder's list or the shop's own (Specification, Errors). `field` is its dotted path, such as `items.1.label`. */
export class ForbiddenWord extends Data.TaggedError("ForbiddenWord")<{ readonly field: string }> {
  override get message() {
    return `The text of ${this.field} holds a forbidden word; write it otherwise`
  }
}
