import { Data } from "effect"
import type { YieldableError } from "effect/Cause"

/** The class of a refusal that has no fields: its tag, and the message that says what is wrong. */
export const RefusalOf = <const Tag extends string>(
  tag: Tag,
  message: string
): (new () => YieldableError & { readonly _tag: Tag }) =>
  class extends Data.TaggedError(tag)<{}> {
    override readonly message = message
  }
