import { stripVTControlCharacters } from "node:util"
import { Console, Data, Effect, Layer, Logger } from "effect"

/** Why a command was not done, in one sentence that says what to do. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** What `@effect/cli` says of a wrong command line, and how we put it. */
const complaints: ReadonlyArray<readonly [RegExp, string]> = [
  [/^Received unknown argument: '(.*)'$/, "$1 is not known here, or lacks its value: --help lists what there is."],
  [/^Invalid subcommand for workshop - .*$/, "There is no such command: workshop --help lists what there is."]
]

const sentence = (text: string): string => {
  const line = stripVTControlCharacters(text).replaceAll(/\s+/g, " ").trim()
  return complaints.reduce((said, [pattern, ours]) => said.replace(pattern, ours), line)
}

/** What `@effect/cli` prints of every option and command alike, and what is left of it. */
const noise: ReadonlyArray<readonly [RegExp, string]> = [
  [/^workshop\n\n/, ""],
  [
    /^ +(A user-defined piece of text|A true or false value|This option can be set from .*|This setting is optional)\.\n\n?/gm,
    ""
  ],
  [/^(--.*)\n\n/gm, "$1\n"],
  [/^\$ workshop$/m, "$ workshop <command>"],
  [/^\$ (?!workshop)/gm, "$ workshop "],
  [/^ +- (\S+) .*? {2,}(.*)$/gm, "  workshop $1  $2"],
  [/ +$/gm, ""],
  [/\n{3,}/g, "\n\n"]
]

const result = (text: string): string => {
  const plain = stripVTControlCharacters(text)
  if (!plain.includes("\nUSAGE\n")) return plain.trim()
  return noise.reduce((left, [pattern, instead]) => left.replace(pattern, instead), `${plain}\n`).trim()
}

/** The console of the command line: results on standard output, what is wrong as one sentence on standard error. */
const sentences = Layer.unwrapEffect(
  Effect.consoleWith((base) =>
    Effect.succeed(
      Console.setConsole({
        ...base,
        log: (text = "") => base.log(result(text)),
        error: (text = "") => base.error(sentence(text))
      })
    )
  )
)

/** Warnings and errors on standard error, one line each. */
const lines = Logger.replace(
  Logger.defaultLogger,
  Logger.make((entry) => globalThis.console.error(Logger.logfmtLogger.log(entry).replaceAll(/\s*\n\s*/g, " | ")))
)

/** How the command line speaks. */
export const layer = Layer.merge(sentences, lines)
