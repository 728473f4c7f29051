import { Data } from "effect"
import type { YieldableError } from "effect/Cause"

/** Makes the class of a refusal without fields, with its tag and a message that says what is wrong. */
export const RefusalOf = <const Tag extends string>(
  tag: Tag,
  message: string
): (new () => YieldableError & { readonly _tag: Tag }) =>
  class extends Data.TaggedError(tag)<{}> {
    override readonly message = message
  }
