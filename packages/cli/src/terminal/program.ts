import { Argument, Command, CommanderError, Option } from "commander"
import type { Effect, Either } from "effect"

// This module does not load Effect, because loading it would delay the help, the version and most errors.

/** An operand of a command, such as `<shop>`, `[file]` or `[file...]`. */
export class Operand<A> extends Argument {
  /** The type of the operand's value. The field does not exist at run time. */
  declare readonly type: A
}

/** The fields that every flag has. */
export interface FlagDescription {
  /** The flag as it is written: `--json`, or `--port <number>`. Shells complete `<file>` and `<folder>`. */
  readonly flag: string
  readonly description: string
  /**
   * The environment variable; by default `WORKSHOP_` and the name of the flag. It is set if two commands use one name
   * differently.
   */
  readonly variable?: string
  readonly choices?: ReadonlyArray<string>
}

/** The value, or the rest of the message about an invalid text, which follows the name of the flag. */
export type DecodeResult<A> = Either.Either<A, string>

/** The variable of a flag or, with `command`, of a flag of that command only, as in `WORKSHOP_SHOP_NAME`. */
export const variableOf = (flag: string, command = ""): string =>
  ["WORKSHOP", ...(command === "" ? [] : [command]), ...flag.split(" ", 1)[0]!.slice(2).split("-")]
    .join("_")
    .toUpperCase()

/**
 * A flag. The option of commander, the line in the help, the message about an invalid value, the completion and the
 * tables in the docs are made from it. commander does not read the variable, because it treats any value of a switch as
 * true, even `false`.
 */
export class Flag<A> extends Option {
  readonly variable: string
  /** The default as a person would type it; empty if there is none. */
  readonly fallback: string
  readonly isRepeatable: boolean
  /** The names passed to `conflicts`. The types of commander omit the field. */
  declare readonly conflictsWith: ReadonlyArray<string>
  /** Decodes the typed texts; an omitted flag has none. */
  readonly decode: (texts: ReadonlyArray<string>) => DecodeResult<A>

  constructor(
    {
      flag,
      description,
      variable = variableOf(flag),
      choices,
      fallback = "",
      isRepeatable = false
    }: FlagDescription & {
      readonly fallback?: string
      readonly isRepeatable?: boolean
    },
    decode: (texts: ReadonlyArray<string>) => DecodeResult<A>
  ) {
    super(flag, description)
    this.variable = variable
    this.fallback = fallback
    this.isRepeatable = isRepeatable
    this.decode = decode
    if (choices !== undefined) this.choices(choices)
    // This replaces commander's own check of choices, because the value of a variable must be checked in the same way
    // as a typed value.
    if (this.required) this.argParser((typed, earlier: ReadonlyArray<string> = []) => [...earlier, typed])
  }
}

/** The effect of a command. It fails with a message for a person. */
export type CommandEffect = Effect.Effect<void, { readonly message: string }>

/** The text of a command's help. */
export interface CommandHelp {
  readonly name: string
  /**
   * The top-level commands have their descriptions in commandLine.ts, so that the help can list them without loading
   * them.
   */
  readonly description?: string
  readonly examples: ReadonlyArray<string>
  /** A further line of the help, which also follows an error in the flags. */
  readonly remark?: string
}

/** Creates a command. The command that was typed passes its effect to `choose`. */
export type MakeCommand = (choose: (run: CommandEffect) => void) => Command

const optionFacts = ({ argChoices = [], fallback, variable }: Flag<unknown>): string =>
  [
    ...(argChoices.length > 0 ? [`choices: ${argChoices.join(", ")}`] : []),
    ...(fallback === "" ? [] : [`default: ${fallback}`]),
    `env: ${variable}`
  ].join("; ")

/** The width of a terminal on which every line of the help fits. */
const TERMINAL_WIDTH = 80

/** Folds an example into lines that fit the terminal and that a shell joins again. */
const foldExample = (example: string): string => {
  const [first = "", ...parts] = example.split(/ (?=--|<)/)
  const lines = [`  ${first}`]
  for (const part of parts) {
    const line = `${lines.at(-1)} ${part}`
    // The backslash at the end takes two columns.
    if (line.length <= TERMINAL_WIDTH - 2) lines[lines.length - 1] = line
    else lines.push(`    ${part}`)
  }
  return lines.join(" \\\n")
}

/**
 * The fewest columns in which descriptions are wrapped. The default of commander is 40, but the longest flags leave
 * fewer on a terminal of 80 columns.
 */
const MIN_WRAPPED_WIDTH = 20

/** Creates a command with its help, but without flags. */
export const makeCommandWithHelp = ({ name, description = "", examples, remark }: CommandHelp): Command =>
  new Command(name)
    .summary(description)
    .description(remark === undefined ? description : `${description}\n${remark}`)
    .showHelpAfterError(remark ?? false)
    .helpCommand(false)
    .helpOption("-h, --help", "Show this help.")
    .addHelpText("after", ["\nExamples:", ...examples.map(foldExample)].join("\n"))
    .configureHelp({
      minWidthToWrap: MIN_WRAPPED_WIDTH,
      subcommandTerm: (command) => command.name(),
      optionDescription: (option) =>
        option instanceof Flag ? `${option.description} (${optionFacts(option)})` : option.description
    })

/** Creates a command that only has subcommands, with or without a heading. */
export const group =
  (
    help: CommandHelp,
    commands: ReadonlyArray<MakeCommand | readonly [heading: string, commands: ReadonlyArray<MakeCommand>]>
  ): MakeCommand =>
  (choose) => {
    const program = makeCommandWithHelp(help)
    for (const entry of commands) {
      const [heading, subcommands] = typeof entry === "function" ? ["", [entry]] : entry
      for (const make of subcommands) program.addCommand(make(choose).helpGroup(heading))
    }
    return program
  }

/** A command and all its subcommands; the command itself comes first. */
export const everyCommand = (command: Command): ReadonlyArray<Command> => [
  command,
  ...command.commands.flatMap(everyCommand)
]

/** The words of a command, as in `workshop shop create`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

/** The command that the words lead to. */
const commandAt = (program: Command, words: ReadonlyArray<string>): Command =>
  words.reduce((at, word) => at.commands.find((command) => command.name() === word) ?? at, program)

/**
 * Finds a mistake in a word that commander would accept, or would report without advice. There are four cases:
 *
 * - The next flag follows a flag that needs a value, as in `shop show 1 --name --json`: commander treats `--json` as the value.
 * - An operand is written as a flag, as in `shop show --shop 1`: commander does not say that the shop is an argument.
 * - A switch has a value, as in `shop show 1 --json=yes`: commander says that it does not know the flag `--json=yes`.
 * - A flag has only one dash, as in `shop show -json 1`: commander does not suggest `--json`.
 */
const findWrongWord = (command: Command, words: ReadonlyArray<string>, i: number): string | null => {
  const { options, registeredArguments } = command
  const [word, before, after] = [words[i]!, words[i - 1], words[i + 1]]
  const name = registeredArguments
    .map((operand) => operand.name())
    .find((name) => word.split("=", 1)[0] === `--${name}`)
  if (name !== undefined && !options.some(({ long }) => long === `--${name}`))
    return `unknown option '--${name}'. Give the ${name} without a flag, as in ${pathOf(command)} <${name}>`
  const isValue = options.some(({ long, required }) => required && long === before)
  for (const { flags, long, required } of options) {
    if (required && word === long && after?.startsWith("--")) return `option '${flags}' argument missing`
    if (!required && word.startsWith(`${long}=`)) return `option '${flags}' takes no value`
    if (!isValue && `-${word}` === long) return `unknown option '${word}'\n(Did you mean ${long}?)`
  }
  return null
}

/**
 * Parses what was typed. Two rules differ from commander's: `--help` shows the help even if there is an error, and a
 * word that begins with two dashes is always a flag and never the value of the flag before it.
 */
const parse = (program: Command, words: ReadonlyArray<string>): void => {
  const separatorIndex = words.indexOf("--")
  const flags = separatorIndex === -1 ? words : words.slice(0, separatorIndex)
  const command = commandAt(program, flags)
  if (flags.includes("--help")) command.help()
  for (const i of flags.keys()) {
    const message = findWrongWord(command, words, i)
    if (message !== null) command.error(`error: ${message}`)
  }
  program.parse(words, { from: "user" })
}

const sentenceOf = (text: string): string => {
  const line = text.trim().replaceAll("\n", " ")
  return line.endsWith(".") ? line : `${line}.`
}

/** An error of commander on one line, with advice. */
const complaintOf = ({ code }: CommanderError, command: Command, complaints: ReadonlyArray<string>): string => {
  const path = pathOf(command)
  if (code !== "commander.help") return [...complaints.map(sentenceOf), `See ${path} --help.`].join(" ")
  const names = command.commands.map((subcommand) => subcommand.name()).join(", ")
  return `Give one of the commands ${names}. ${path} --help describes them.`
}

/** The result of parsing the typed words: an effect to run, a text to print, or an error message. */
export type ParsedCommand =
  | { readonly kind: "run"; readonly run: CommandEffect }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "refuse"; readonly message: string }

/** Parses the typed words. */
export const parseCommand = (make: MakeCommand, words: ReadonlyArray<string>): ParsedCommand => {
  let selectedRun: CommandEffect | undefined
  const [printed, complaints]: [Array<string>, Array<string>] = [[], []]
  const program = make((run) => {
    selectedRun = run
  })
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: (text) => complaints.push(text)
    })
  try {
    parse(program, words)
    // `--no-color` sets these variables, because all code that prints colours reads them.
    if (program.opts().color === false) Object.assign(process.env, { NO_COLOR: "1", FORCE_COLOR: "" })
    return selectedRun === undefined ? { kind: "print", text: "" } : { kind: "run", run: selectedRun }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: "print", text: printed.join("").trimEnd() }
    return { kind: "refuse", message: complaintOf(error, commandAt(program, words), complaints) }
  }
}
