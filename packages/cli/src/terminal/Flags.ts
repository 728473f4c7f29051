import { HelpDoc, Options, ValidationError } from "@effect/cli"
import { Effect, type Either, Option } from "effect"
import { variable } from "./variable.js"

/** Reads a flag's text, or says in words that follow its name what it must be, such as `must be a port from 0 to 65535`. */
export type Reader<A> = (text: string) => Either.Either<A, string>

interface Named {
  readonly name: string
  readonly description: string
  /** The environment variable; `WORKSHOP_` and the flag's name unless told, for a name that two commands use differently. */
  readonly variable?: string
}

/** A flag with a value. */
export interface Flag<A> extends Named {
  /** What stands for the value in the help. */
  readonly placeholder: string
  readonly read: Reader<A>
  /** As it would be written; empty where the flag may be left out, and then `read` is asked about the empty text. */
  readonly fallback: string
}

const variableOf = ({ name, variable }: Named): string =>
  variable ?? `WORKSHOP_${name.toUpperCase().replaceAll("-", "_")}`

const shown = (named: Named, fallback = ""): string =>
  `${named.description}${fallback === "" ? "" : ` Default: ${fallback}.`} Environment: ${variableOf(named)}.`

const refused = (sentence: string) => ValidationError.invalidValue(HelpDoc.p(sentence))

const inEnvironment = (named: Named) => Effect.mapError(variable(variableOf(named)), ({ message }) => refused(message))

const readWith = <A>(named: Named, read: Reader<A>, text: string) =>
  Effect.mapError(read(text), (must) =>
    refused(`--${named.name} (or ${variableOf(named)}) ${must}, and not "${text}".`)
  )

/** What was typed, else the environment variable where it is not empty; none where the flag was left out. */
const given = (flag: Named & { readonly placeholder: string }, fallback: string) =>
  Options.text(flag.name).pipe(
    Options.withPseudoName(flag.placeholder),
    Options.withDescription(shown(flag, fallback)),
    Options.optional,
    Options.mapEffect((typed) => {
      if (Option.isSome(typed)) return Effect.succeed(typed)
      return Effect.map(inEnvironment(flag), (text) => (text === "" ? Option.none<string>() : Option.some(text)))
    })
  )

/** A flag with a value, read from the command line, else from its environment variable, else its fallback. */
export const value = <A>(flag: Flag<A>): Options.Options<A> =>
  Options.mapEffect(given(flag, flag.fallback), (text) =>
    readWith(
      flag,
      flag.read,
      Option.getOrElse(text, () => flag.fallback)
    )
  )

/** A flag that may be left out, and is null then; what is given is read, also the empty text. */
export const maybe = <A>(flag: Omit<Flag<A>, "fallback">): Options.Options<A | null> =>
  Options.mapEffect(
    given(flag, ""),
    Option.match({
      onNone: (): Effect.Effect<A | null, ValidationError.ValidationError> => Effect.succeed(null),
      onSome: (text) => readWith(flag, flag.read, text)
    })
  )

const partsOf = (texts: ReadonlyArray<string>) =>
  texts.flatMap((text) => text.split(",")).flatMap((part) => (part.trim() === "" ? [] : [part.trim()]))

/** A flag that may be given several times, or once with values between commas; empty where it is not given. */
export const list = <A>(flag: Omit<Flag<A>, "fallback">): Options.Options<ReadonlyArray<A>> =>
  Options.text(flag.name).pipe(
    Options.withPseudoName(flag.placeholder),
    Options.withDescription(shown(flag)),
    Options.repeated,
    Options.mapEffect((given) =>
      given.length > 0 ? Effect.succeed(given) : Effect.map(inEnvironment(flag), (text) => [text])
    ),
    Options.mapEffect((texts) => Effect.forEach(partsOf(texts), (text) => readWith(flag, flag.read, text)))
  )

const TRUE = /^(1|true|yes|on)$/i
const FALSE = /^(0|false|no|off|)$/i

const isTrue = (text: string): boolean | undefined => (TRUE.test(text) ? true : FALSE.test(text) ? false : undefined)

/** A flag that is there or not. */
export const toggle = (name: string, description: string, variable?: string): Options.Options<boolean> => {
  const named: Named = { name, description, ...(variable === undefined ? {} : { variable }) }
  return Options.boolean(name).pipe(
    Options.withDescription(shown(named)),
    Options.mapEffect((given) =>
      given
        ? Effect.succeed(true)
        : Effect.flatMap(inEnvironment(named), (text) => {
            const told = isTrue(text)
            return told === undefined
              ? Effect.fail(refused(`${variableOf(named)} must be true or false, and not "${text}".`))
              : Effect.succeed(told)
          })
    )
  )
}

/** `--json`: the answer as JSON, for a program to read (Specification, Commands). */
export const json: Options.Options<boolean> = toggle("json", "Print JSON, for a program to read.")

/** `--yes`: does what destroys without asking. */
export const yes: Options.Options<boolean> = toggle("yes", "Do it without asking; needed where nobody can answer.")
