import { readFileSync } from "node:fs"
import { Option } from "commander"
import { Config, Effect, Either, Schema } from "effect"
import { ArrayFormatter } from "effect/ParseResult"
import { CommandRefused } from "../CommandRefused.js"
import { type Decoder, text } from "./decoders.js"

/** What every flag has. */
interface Described {
  /** As it is written: `--json`, or `--port <number>`, where `<file>` and `<folder>` are completed as such. */
  readonly flag: string
  readonly description: string
  /** The environment variable; `WORKSHOP_` and the flag's name by default, for a name that two commands use differently. */
  readonly variable?: string
  readonly choices?: ReadonlyArray<string>
}

/** A flag with a value. Without a decoder any text is one, so A is then string. */
interface WithValue<A> extends Described {
  readonly decoder?: Decoder<A>
}

/** The value, or what follows the name of the flag in the message about a wrong text. */
type Decoded<A> = Either.Either<A, string>

/** The variable of a flag, or of a flag of one command alone, as in `WORKSHOP_SHOP_NAME`. */
export const variableOf = (flag: string, command = ""): string =>
  ["WORKSHOP", ...(command === "" ? [] : [command]), ...flag.split(" ", 1)[0]!.slice(2).split("-")]
    .join("_")
    .toUpperCase()

/**
 * A flag, from which come commander's option, the line in the help, the message about a wrong value, the completion and the
 * tables in the docs. commander does not read the variable itself, because for a switch it takes any value as true, `false` too.
 */
export class Flag<A> extends Option {
  readonly variable: string
  /** The default as one would write it; empty where there is none. */
  readonly fallback: string
  readonly isRepeatable: boolean
  /** What `conflicts` was given; commander's types leave it out. */
  declare readonly conflictsWith: ReadonlyArray<string>
  /** Decodes the texts that were given, none where the flag was left out. */
  readonly decode: (texts: ReadonlyArray<string>) => Decoded<A>

  constructor(
    {
      flag,
      description,
      variable = variableOf(flag),
      choices,
      fallback = "",
      isRepeatable = false
    }: Described & {
      readonly fallback?: string
      readonly isRepeatable?: boolean
    },
    decode: (texts: ReadonlyArray<string>) => Decoded<A>
  ) {
    super(flag, description)
    this.variable = variable
    this.fallback = fallback
    this.isRepeatable = isRepeatable
    this.decode = decode
    if (choices !== undefined) this.choices(choices)
    // In place of commander's own check of choices: the value of a variable is checked in the same way as a typed one.
    if (this.required) this.argParser((typed, earlier: ReadonlyArray<string> = []) => [...earlier, typed])
  }
}

const decodeText =
  <A>({ decoder = text as Decoder<unknown> as Decoder<A> }: WithValue<A>) =>
  (text: string): Decoded<A> =>
    Either.mapLeft(
      Schema.decodeEither(decoder)(text),
      ({ issue }) => `${ArrayFormatter.formatIssueSync(issue)[0]?.message}, and not "${text}"`
    )

/** A flag with a value and a default. */
export const value = <A = string>(flag: WithValue<A> & { readonly fallback: string }): Flag<A> =>
  new Flag(flag, ([given = flag.fallback]) => decodeText(flag)(given))

/** A flag that may be left out. Empty is a value of its own, or the same as left out. */
export interface OptionalFlag<A> extends WithValue<A> {
  readonly isEmptyValue?: boolean
}

/** A flag that may be left out: it is null then, and where its value is empty unless `isEmptyValue`. */
export const optional = <A = string>({ isEmptyValue = false, ...flag }: OptionalFlag<A>): Flag<NoInfer<A> | null> =>
  new Flag<A | null>(flag, ([given]) =>
    given === undefined || (given === "" && !isEmptyValue) ? Either.right(null) : decodeText(flag)(given)
  )

const partsOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts
    .flatMap((text) => text.split(","))
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** A flag that may be given several times, or once with values between commas; the default where none is given. */
export const repeatable = <A = string>(
  flag: WithValue<A>,
  fallback: ReadonlyArray<NoInfer<A>> = []
): Flag<ReadonlyArray<A>> =>
  new Flag({ ...flag, isRepeatable: true }, (texts) => {
    const parts = partsOf(texts)
    return parts.length === 0 ? Either.right(fallback) : Either.all(parts.map(decodeText(flag)))
  })

const TRUE = ["1", "true", "yes", "on"]
const FALSE = ["0", "false", "no", "off", ""]

/** A flag that is there or not. */
export const toggle = (name: string, description: string, variable?: string): Flag<boolean> =>
  new Flag({ flag: `--${name}`, description, ...(variable !== undefined && { variable }) }, ([given = ""]) => {
    const word = given.toLowerCase()
    return TRUE.includes(word) || FALSE.includes(word)
      ? Either.right(TRUE.includes(word))
      : Either.left(`must be true or false, and not "${given}"`)
  })

/** `--json`: the response as JSON, for a program to read (Specification, Commands). */
export const json = toggle("json", "Print JSON, for a program to read.")

/** `--yes`: does what destroys without asking. */
export const yes = toggle("yes", "Do it without asking; needed where nobody can answer.")

const refuse = (message: string) => new CommandRefused({ message })

const environment = (name: string): Effect.Effect<string> => Effect.orDie(Config.withDefault(Config.string(name), ""))

/**
 * The value of an environment variable, or the content of the file that the variable `NAME_FILE` names, as containers mount
 * secrets; empty where neither is set. A secret in a file is in no process list and no shell history.
 */
const variableText = (name: string): Effect.Effect<string, CommandRefused> =>
  Effect.gen(function* () {
    const [value, file] = [yield* environment(name), yield* environment(`${name}_FILE`)]
    if (file === "") return value
    if (value !== "") return yield* refuse(`${name} and ${name}_FILE are both set: unset one.`)
    return yield* Effect.try({
      try: () => readFileSync(file, "utf8").replace(/\r?\n$/, ""),
      catch: (cause) => {
        const why = (cause as NodeJS.ErrnoException).code ?? String(cause)
        return refuse(`${name}_FILE names ${file}, which cannot be read (${why}): correct it.`)
      }
    })
  })

/**
 * The value of a flag: what was typed, else its environment variable unless that is empty, else its default. `isOverridden`
 * where a flag was typed that cannot be used with this one: then the variable does not count.
 */
export const flagValue = <A>(
  flag: Flag<A>,
  typed: ReadonlyArray<string>,
  isOverridden = false
): Effect.Effect<A, CommandRefused> =>
  Effect.gen(function* () {
    const { long = "", variable, isRepeatable, required } = flag
    if (typed.length > 1 && !isRepeatable) return yield* refuse(`${long} is given twice: give it once.`)
    const given = typed.length === 0 && !isOverridden ? yield* variableText(variable) : ""
    const source = required ? `${long} (or ${variable})` : variable
    return yield* Either.mapLeft(flag.decode(given === "" ? typed : [given]), (must) => refuse(`${source} ${must}.`))
  })
