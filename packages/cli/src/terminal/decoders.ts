import { Duration, Schema } from "effect"

/** Decodes the text of a flag. Its message says what the text must be, such as `must be a port from 0 to 65535`. */
export type Decoder<A> = Schema.Schema<A, string>

/** A decoder that has the same message for every invalid text. */
const withMessage = <A>(message: string, decoder: Decoder<A>): Decoder<A> =>
  decoder.annotations({ message: () => ({ message, override: true }) })

/** Any text, including an empty one. */
export const text: Decoder<string> = Schema.String

/** A text that passes a test. */
export const textMatching = (message: string, isRight: (text: string) => boolean): Decoder<string> =>
  withMessage(message, Schema.String.pipe(Schema.filter(isRight)))

/** One of a few words, with the words as choices for the help and the completion. */
export const oneOf = <const A extends string>(choices: ReadonlyArray<A>) => ({
  choices,
  decoder: withMessage<A>(
    `must be one of ${choices.join(", ")}`,
    Schema.compose(Schema.String, Schema.Literal(...choices), { strict: false })
  )
})

/** Decodes `yes` and `no` to true and false. */
export const yesOrNo = {
  choices: ["yes", "no"],
  decoder: withMessage(
    "must be one of yes, no",
    Schema.compose(Schema.String, Schema.transformLiterals(["yes", true], ["no", false]), { strict: false })
  )
}

/** A whole number from `min` to `max`, both included. */
export const wholeNumber = (
  min: number,
  max: number,
  message = `must be a whole number from ${min} to ${max}`
): Decoder<number> =>
  withMessage(
    message,
    Schema.String.pipe(Schema.pattern(/^\d{1,15}$/), Schema.compose(Schema.NumberFromString), Schema.between(min, max))
  )

/** A port to listen on; 0 means a free one. */
export const port = wholeNumber(0, 65_535, "must be a port from 0 to 65535")

/** A share from 0 (never) to 1 (always). */
export const share: Decoder<number> = withMessage(
  "must be a share from 0 to 1, such as 0.3",
  Schema.String.pipe(
    Schema.pattern(/^\d?(\.\d{1,9})?$/),
    Schema.minLength(1),
    Schema.compose(Schema.NumberFromString),
    Schema.between(0, 1)
  )
)

const UNITS: Readonly<Record<string, Duration.Unit>> = {
  ms: "millis",
  s: "seconds",
  m: "minutes",
  min: "minutes",
  h: "hours",
  d: "days"
}

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|min|h|d)?$/

const parseMilliseconds = (text: string): number => {
  const [, amount = "", unit = "s"] = DURATION.exec(text) ?? []
  return Duration.toMillis(Duration.decode(`${Number(amount)} ${UNITS[unit]!}`))
}

/** A length of time in milliseconds: `250ms`, `3s`, `5m`, `2h`, `60d`; a bare number counts seconds. */
export const duration: Decoder<number> = withMessage(
  "must be a length of time such as 250ms, 3s, 5m, 2h or 60d",
  Schema.transform(Schema.String.pipe(Schema.pattern(DURATION)), Schema.Number, {
    strict: true,
    decode: parseMilliseconds,
    encode: (length) => `${length}ms`
  })
)

/** An address of this machine to listen on. */
export const host = textMatching("must be an address of this machine, such as 127.0.0.1", (text) =>
  /^[^\s/]+$/.test(text)
)

/** An http or https address. */
export const webAddress = textMatching(
  "must be an http address, such as http://127.0.0.1:4010",
  (text) => /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text)
)
