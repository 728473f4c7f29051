import { Either, ParseResult, Schema } from "effect"

// Cc is C0, DEL and C1 in one class; Cs, in a `u` expression, is a surrogate without its other half.
const UNCLEAN = /[^\P{Cc}\n\t]|\p{Cs}/u

const REFUSED_TYPE = Either.left("must be a string")

/** Whether a text is well-formed Unicode without control characters, newline and tab aside (Specification, Tickets). */
export const isCleanText = (text: string): boolean => !UNCLEAN.test(text)

/** What a reader makes of a text: a value, or a sentence telling a person what to change, without the text itself. */
export type Reading<A> = Either.Either<A, string>

/**
 * A schema of strings that are put in order as they are read: `read` gives the string to keep. A declaration and not
 * a transformation: a third of the time, and annotations added later still reach OpenAPI (effect ignores them there
 * on a transformation with a JSON Schema of its own).
 */
export const keptText = (read: (text: string) => Reading<string>, jsonSchema: object): Schema.Schema<string> =>
  Schema.declare(
    [],
    {
      decode: () => (input, _, ast) => {
        const reading = typeof input === "string" ? read(input) : REFUSED_TYPE
        return Either.isRight(reading)
          ? Either.right(reading.right)
          : Either.left(new ParseResult.Type(ast, input, reading.left))
      },
      encode: () => (text) => Either.right(text as string)
    },
    { jsonSchema }
  )

const REFUSED_CONTROL = Either.left("must not hold control characters other than newline and tab")
const REFUSED_SURROGATE = Either.left("must be well-formed Unicode, without lone surrogates")

/**
 * Text from outside of at most `max` Unicode code points (Specification, Tickets): surrounding white space is cut off first,
 * and something must remain. Refused: control characters other than newline and tab, and lone surrogates.
 */
export const Text = (max: number): Schema.Schema<string> => {
  const refusedLength = Either.left(`must be 1 to ${max} characters`)
  const read = (text: string): Reading<string> => {
    const trimmed = text.trim()
    if (trimmed.length === 0 || isLonger(trimmed, max)) return refusedLength
    if (isCleanText(trimmed)) return Either.right(trimmed)
    return trimmed.isWellFormed() ? REFUSED_CONTROL : REFUSED_SURROGATE
  }
  return keptText(read, {
    type: "string",
    minLength: 1,
    maxLength: max,
    description: `Up to ${max} characters, surrounding white space aside`
  })
}

/** Counts code points only where the number of UTF-16 units leaves a doubt. */
const isLonger = (text: string, max: number): boolean => {
  if (text.length <= max) return false
  if (text.length > 2 * max) return true
  let points = 0
  for (const _ of text) points++
  return points > max
}
