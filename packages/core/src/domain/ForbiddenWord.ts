import { Data } from "effect"

/** A text holds a word from the embedder's list or the shop's own (spec §7). `field` is its dotted path, such as `items.1.label`. */
export class ForbiddenWord extends Data.TaggedError("ForbiddenWord")<{ readonly field: string }> {
  override get message() {
    return `The text of ${this.field} holds a forbidden word; write it otherwise`
  }
}
