import { readFileSync } from "node:fs"
import { type Command, Help } from "commander"
import { Config, Effect, Either, Schema } from "effect"
import { ArrayFormatter } from "effect/ParseResult"
import { type CommandRefused, refuse } from "../CommandRefused.js"
import { type Decoder, text } from "./decoders.js"
import {
  type CommandEffect,
  type CommandHelp,
  type DecodeResult,
  Flag,
  type FlagDescription,
  type MakeCommand,
  makeCommandWithHelp,
  Operand,
  variableOf
} from "./program.js"

/** Options of a flag with a value. Without a decoder the value is any text, so `A` is `string`. */
interface FlagOptions<A> extends Pick<FlagDescription, "variable" | "choices"> {
  readonly decoder?: Decoder<A>
}

const decodeText =
  <A>({ decoder = text as Decoder<unknown> as Decoder<A> }: FlagOptions<A>) =>
  (text: string): DecodeResult<A> =>
    Either.mapLeft(
      Schema.decodeEither(decoder)(text),
      ({ issue }) => `${ArrayFormatter.formatIssueSync(issue)[0]?.message}, and not "${text}"`
    )

/** A flag with a value and a default. */
export const valueFlag = <A = string>(
  flag: string,
  description: string,
  options: FlagOptions<A> & { readonly fallback: string }
): Flag<A> => new Flag({ flag, description, ...options }, ([given = options.fallback]) => decodeText(options)(given))

/**
 * Options of an optional flag. `isEmptyValue` decides whether an empty text is a value or means the same as an omitted
 * flag.
 */
export interface OptionalFlagOptions<A> extends FlagOptions<A> {
  readonly isEmptyValue?: boolean
}

/** An optional flag: null if it is omitted, or if its value is empty unless `isEmptyValue`. */
export const optionalFlag = <A = string>(
  flag: string,
  description: string,
  { isEmptyValue = false, ...options }: OptionalFlagOptions<A> = {}
): Flag<NoInfer<A> | null> =>
  new Flag<A | null>({ flag, description, ...options }, ([given]) =>
    given === undefined || (given === "" && !isEmptyValue) ? Either.right(null) : decodeText(options)(given)
  )

const partsOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts
    .flatMap((text) => text.split(","))
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** A flag that may be given several times, or once with values between commas. */
export const repeatableFlag = <A = string>(
  flag: string,
  description: string,
  options: FlagOptions<A> = {},
  fallback: ReadonlyArray<NoInfer<A>> = []
): Flag<ReadonlyArray<A>> =>
  new Flag({ flag, description, ...options, isRepeatable: true }, (texts) => {
    const parts = partsOf(texts)
    return parts.length === 0 ? Either.right(fallback) : Either.all(parts.map(decodeText(options)))
  })

const TRUE = ["1", "true", "yes", "on"]
const FALSE = ["0", "false", "no", "off", ""]

/** A flag without a value: true if it is present. */
export const toggleFlag = (name: string, description: string, variable?: string): Flag<boolean> =>
  new Flag({ flag: `--${name}`, description, ...(variable !== undefined && { variable }) }, ([given = ""]) => {
    const word = given.toLowerCase()
    return TRUE.includes(word) || FALSE.includes(word)
      ? Either.right(TRUE.includes(word))
      : Either.left(`must be true or false, and not "${given}"`)
  })

/**
 * Flags of these kinds for one command only. The names of their variables contain the command's name, as in
 * `WORKSHOP_SHOP_NAME`.
 */
export const flagsOf = (command: string) => ({
  value: <A = string>(flag: string, description: string, options: FlagOptions<A> & { readonly fallback: string }) =>
    valueFlag(flag, description, { ...options, variable: variableOf(flag, command) }),
  optional: <A = string>(flag: string, description: string, options: OptionalFlagOptions<A> = {}) =>
    optionalFlag(flag, description, { ...options, variable: variableOf(flag, command) }),
  repeatable: <A = string>(flag: string, description: string, options: FlagOptions<A> = {}) =>
    repeatableFlag(flag, description, { ...options, variable: variableOf(flag, command) }),
  toggle: (name: string, description: string) => toggleFlag(name, description, variableOf(`--${name}`, command))
})

/** `--json`: prints the output as JSON, for a program to read (Specification, Commands). */
export const jsonFlag = toggleFlag("json", "Print JSON, for programs to read.")

/** `--yes`: skips the question. */
export const yesFlag = toggleFlag("yes", "Do not ask for confirmation; required without a terminal.")

const readEnvironment = (name: string): Effect.Effect<string> =>
  Effect.orDie(Config.withDefault(Config.string(name), ""))

/**
 * The value of an environment variable, or the content of the file that the variable `NAME_FILE` names, as containers
 * mount secrets; empty if neither is set. A secret in a file does not appear in a process list or in the history of a
 * shell.
 */
const readVariableText = (name: string): Effect.Effect<string, CommandRefused> =>
  Effect.gen(function* () {
    const [value, file] = [yield* readEnvironment(name), yield* readEnvironment(`${name}_FILE`)]
    if (file === "") return value
    if (value !== "") return yield* refuse(`${name} and ${name}_FILE are both set. Unset one.`)
    return yield* Effect.try({
      try: () => readFileSync(file, "utf8").replace(/\r?\n$/, ""),
      catch: (cause) => {
        const why = (cause as NodeJS.ErrnoException).code ?? String(cause)
        return refuse(`${name}_FILE names ${file}, which cannot be read (${why}). Correct the path or its permissions.`)
      }
    })
  })

/**
 * The value of a flag: the typed text, otherwise its environment variable unless that is empty, otherwise its default.
 * The variable is ignored if `isOverridden`, which means that a typed flag conflicts with this one.
 */
export const flagValue = <A>(
  flag: Flag<A>,
  typed: ReadonlyArray<string>,
  isOverridden = false
): Effect.Effect<A, CommandRefused> =>
  Effect.gen(function* () {
    const { long = "", variable, isRepeatable, required } = flag
    if (typed.length > 1 && !isRepeatable) return yield* refuse(`${long} is given more than once. Give it once.`)
    const given = typed.length === 0 && !isOverridden ? yield* readVariableText(variable) : ""
    const source = required ? `${long} (or ${variable})` : variable
    return yield* Either.mapLeft(flag.decode(given === "" ? typed : [given]), (complaint) =>
      refuse(`${source} ${complaint}.`)
    )
  })

/** The flags and operands of a command, by the names that it gives to their values. */
export type Options = Readonly<Record<string, Flag<unknown> | Operand<unknown>>>

/** The values of flags and operands. */
export type Values<O> = { readonly [K in keyof O]: O[K] extends Flag<infer A> | Operand<infer A> ? A : never }

/** The texts that were typed for a flag; a switch has `true`. */
const typedTextsOf = (flag: Flag<unknown>, command: Command): ReadonlyArray<string> => {
  const name = flag.attributeName()
  if (command.getOptionValueSource(name) !== "cli") return []
  return flag.required ? command.getOptionValue(name) : ["true"]
}

const valuesOf = <O extends Options>(options: O, command: Command): Effect.Effect<Values<O>, CommandRefused> =>
  Effect.gen(function* () {
    const entries = Object.entries<Flag<unknown> | Operand<unknown>>(options)
    const typed = entries.flatMap(([, option]) =>
      option instanceof Flag && typedTextsOf(option, command).length > 0 ? [option] : []
    )
    const operands = [...command.processedArgs]
    const values: Record<string, unknown> = {}
    for (const [name, option] of entries) {
      if (option instanceof Operand) values[name] = operands.shift()
      else {
        const isOverridden = typed.some((otherOption) => otherOption.conflictsWith.includes(option.attributeName()))
        values[name] = yield* flagValue(option, typedTextsOf(option, command), isOverridden)
      }
    }
    return values as Values<O>
  })

/** The options of a command by the headings of its help. */
type Headings = Readonly<Record<string, Options>>

/**
 * Shows the options below their headings, and the others last. commander would store the heading in the option, but
 * other commands share the option.
 */
const groupUnder = (subcommand: Command, headings: Headings): void => {
  const headingOf = new Map<unknown, string>(
    Object.entries(headings).flatMap(([heading, options]) =>
      Object.values(options).map((option) => [option, heading] as const)
    )
  )
  const { groupItems } = Help.prototype
  subcommand.configureHelp({
    ...subcommand.configureHelp(),
    groupItems: (items, visible) => groupItems(items, visible, (item) => headingOf.get(item) ?? "Other:")
  })
}

/**
 * A command that does something. `isTyped` is true for a flag on the command line, and false for its variable and its
 * default.
 */
export const command =
  <O extends Options>(
    definition: CommandHelp & {
      readonly options: O
      /** The options by the headings of the help; by default they have one heading. */
      readonly headings?: Headings
      readonly run: (values: Values<O>, isTyped: (name: keyof O) => boolean) => CommandEffect
    }
  ): MakeCommand =>
  (choose) => {
    const subcommand = makeCommandWithHelp(definition)
    for (const option of Object.values<Flag<unknown> | Operand<unknown>>(definition.options))
      if (option instanceof Flag) subcommand.addOption(option)
      else subcommand.addArgument(option)
    if (definition.headings !== undefined) groupUnder(subcommand, definition.headings)
    const isTyped = (name: keyof O) => subcommand.getOptionValueSource(String(name)) === "cli"
    return subcommand.action(() =>
      choose(Effect.flatMap(valuesOf(definition.options, subcommand), (values) => definition.run(values, isTyped)))
    )
  }
