import { Argument, Command, CommanderError } from "commander"
import { Console, Effect, Either } from "effect"
import { CommandRefused } from "../CommandRefused.js"
import { Flag, flagValue } from "./flags.js"

/** An operand in its place on the command line, such as `<shop>`, `[file]` or `[file...]`. */
export class Operand<A> extends Argument {
  /** The type of its value; it has no value at run time. */
  declare readonly type: A
}

/** The flags and operands of a command, by the names that it gives to their values. */
export type Options = Readonly<Record<string, Flag<unknown> | Operand<unknown>>>

/** The values of flags and operands. */
export type Values<O> = { readonly [K in keyof O]: O[K] extends Flag<infer A> | Operand<infer A> ? A : never }

/** What a command does, or why it does not. */
export type Run = Effect.Effect<void, { readonly message: string }>

/** What the help says of a command. */
export interface CommandHelp {
  readonly name: string
  /** The first commands have theirs in commandLine.ts, so that they need not be loaded to be listed. */
  readonly description?: string
  readonly examples: ReadonlyArray<string>
  /** What the help says besides, and what follows an error in the flags. */
  readonly remark?: string
}

/** Makes a command. When that is what was typed, it passes what is to be run to `choose`. */
export type MakeCommand = (choose: (run: Run) => void) => Command

const optionFacts = ({ argChoices = [], fallback, variable }: Flag<unknown>): string =>
  [
    ...(argChoices.length > 0 ? [`choices: ${argChoices.join(", ")}`] : []),
    ...(fallback === "" ? [] : [`default: ${fallback}`]),
    `env: ${variable}`
  ].join("; ")

const helpful = ({ name, description = "", examples, remark }: CommandHelp): Command =>
  new Command(name)
    .summary(description)
    .description(remark === undefined ? description : `${description}\n${remark}`)
    .showHelpAfterError(remark ?? false)
    .helpCommand(false)
    .helpOption("-h, --help", "Show this help; it may stand anywhere on the line.")
    .addHelpText("after", ["\nExamples:", ...examples.map((line) => `  ${line}`)].join("\n"))
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      optionDescription: (option) =>
        option instanceof Flag ? `${option.description} (${optionFacts(option)})` : option.description
    })

/** The texts that were typed for a flag; a switch has `true`. */
const typedFor = (flag: Flag<unknown>, command: Command): ReadonlyArray<string> => {
  const name = flag.attributeName()
  if (command.getOptionValueSource(name) !== "cli") return []
  return flag.required ? command.getOptionValue(name) : ["true"]
}

const valuesOf = <O extends Options>(options: O, command: Command): Effect.Effect<Values<O>, CommandRefused> => {
  const entries = Object.entries<Flag<unknown> | Operand<unknown>>(options)
  const flags = entries.flatMap(([, option]) => (option instanceof Flag ? [option] : []))
  const isOverridden = (flag: Flag<unknown>) =>
    flags.some((other) => other.conflictsWith.includes(flag.attributeName()) && typedFor(other, command).length > 0)
  const operands = entries.filter(([, option]) => option instanceof Operand).map(([name]) => name)
  return Effect.map(
    Effect.forEach(entries, ([name, option]) =>
      option instanceof Flag
        ? Effect.map(
            flagValue(option, typedFor(option, command), isOverridden(option)),
            (value) => [name, value] as const
          )
        : Effect.succeed([name, command.processedArgs[operands.indexOf(name)]] as const)
    ),
    (values) => Object.fromEntries(values) as Values<O>
  )
}

/** A command that does something. `isTyped` tells a flag on the command line from its variable and its default. */
export const command =
  <O extends Options>(
    told: CommandHelp & {
      readonly options: O
      readonly run: (values: Values<O>, isTyped: (name: keyof O) => boolean) => Run
    }
  ): MakeCommand =>
  (choose) => {
    const made = helpful(told)
    for (const option of Object.values<Flag<unknown> | Operand<unknown>>(told.options))
      if (option instanceof Flag) made.addOption(option)
      else made.addArgument(option)
    const isTyped = (name: keyof O) => made.getOptionValueSource(String(name)) === "cli"
    return made.action(() =>
      choose(Effect.flatMap(valuesOf(told.options, made), (values) => told.run(values, isTyped)))
    )
  }

/** A command that only gathers others, under a heading or without one. */
export const group =
  (
    help: CommandHelp,
    commands: ReadonlyArray<MakeCommand | readonly [heading: string, commands: ReadonlyArray<MakeCommand>]>
  ): MakeCommand =>
  (choose) => {
    const made = helpful(help)
    for (const entry of commands) {
      const [heading, below] = typeof entry === "function" ? ["", [entry]] : entry
      for (const make of below) made.addCommand(make(choose).helpGroup(heading))
    }
    return made
  }

/** A command and all below it; itself comes first. */
export const everyCommand = (command: Command): ReadonlyArray<Command> => [
  command,
  ...command.commands.flatMap(everyCommand)
]

/** A command by its words, as in `workshop shop create`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

/** The command that the words lead to. */
const commandAt = (program: Command, words: ReadonlyArray<string>): Command =>
  words.reduce((at, word) => at.commands.find((command) => command.name() === word) ?? at, program)

/** What is wrong with a word that commander would take for a value, or for a flag that it knows nothing like. */
const wrongWord = ({ options }: Command, words: ReadonlyArray<string>, i: number): string | null => {
  const [word, before, after] = [words[i]!, words[i - 1], words[i + 1]]
  const isValue = options.some(({ long, required }) => required && long === before)
  for (const { flags, long, required } of options) {
    if (required && word === long && after?.startsWith("--")) return `option '${flags}' argument missing`
    if (!required && word.startsWith(`${long}=`)) return `option '${flags}' takes no value`
    if (!isValue && `-${word}` === long) return `unknown option '${word}'\n(Did you mean ${long}?)`
  }
  return null
}

/**
 * Parses what was typed. Two rules are not commander's: `--help` shows help even where something else is wrong, and a word
 * that begins with two dashes is the next flag and not the value of the one before.
 */
const parse = (program: Command, words: ReadonlyArray<string>): void => {
  const end = words.indexOf("--")
  const flags = end === -1 ? words : words.slice(0, end)
  const command = commandAt(program, flags)
  if (flags.includes("--help")) command.help()
  for (const i of flags.keys()) {
    const wrong = wrongWord(command, words, i)
    if (wrong !== null) command.error(`error: ${wrong}`)
  }
  program.parse(words, { from: "user" })
}

const sentenceOf = (text: string): string => {
  const line = text.trim().replaceAll("\n", " ")
  return line.endsWith(".") ? line : `${line}.`
}

/** An error of commander in one line, with what to do. */
const complaintOf = ({ code }: CommanderError, command: Command, complaints: ReadonlyArray<string>): string => {
  const path = pathOf(command)
  if (code !== "commander.help") return [...complaints.map(sentenceOf), `See ${path} --help.`].join(" ")
  const names = command.commands.map((below) => below.name()).join(", ")
  return `Name one of the commands ${names}: ${path} --help shows what each does.`
}

/** What the typed words ask for: a command, or to print the help; or why they ask for nothing that there is. */
export const runOf = (make: MakeCommand, words: ReadonlyArray<string>): Either.Either<Run, CommandRefused> => {
  let chosen: Run = Effect.void
  const [printed, complaints]: [Array<string>, Array<string>] = [[], []]
  const program = make((run) => {
    chosen = run
  })
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: (text) => complaints.push(text)
    })
  try {
    parse(program, words)
    // Whatever writes colours looks at these variables, and `--no-color` wins over both.
    if (program.opts().color === false) Object.assign(process.env, { NO_COLOR: "1", FORCE_COLOR: "" })
    return Either.right(chosen)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return Either.right(Console.log(printed.join("").trimEnd()))
    return Either.left(new CommandRefused({ message: complaintOf(error, commandAt(program, words), complaints) }))
  }
}
