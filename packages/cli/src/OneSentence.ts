import { stripVTControlCharacters } from "node:util"
import { Console, Data, Effect, Layer, Logger } from "effect"
import { legible } from "./terminal/legible.js"
import { tidyHelp } from "./terminal/tidyHelp.js"

/** Why a command was not done, in one sentence that says what to do. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Any other refusal as that of a command, in its own words. */
export const refused = ({ message }: { readonly message: string }): CommandRefused => new CommandRefused({ message })

/** A wrong command line as a refusal, by what the library says of it. */
export const wrongWords = (text: string): CommandRefused => {
  const message = stripVTControlCharacters(text).replaceAll(/\s+/g, " ").trim()
  return new CommandRefused({ message })
}

/** A console that prints results alone. */
export const silentErrors = (console: Console.Console): Console.Console => ({ ...console, error: () => Effect.void })

/** Help is put in our words; whatever else is printed stays as it is, but for white space at its end. */
const result = (text: string, typed: ReadonlyArray<string>): string => {
  const plain = stripVTControlCharacters(text)
  return plain.includes("\nUSAGE\n") ? tidyHelp(plain, typed) : text.trimEnd()
}

/** The console of the command line: help in our words, and nothing that a terminal would obey. */
const helpfully = (typed: ReadonlyArray<string>) =>
  Layer.unwrapEffect(
    Effect.consoleWith((base) =>
      Effect.succeed(
        Console.setConsole({
          ...base,
          log: (text = "") => base.log(legible(result(text, typed))),
          error: (text = "") => base.error(legible(String(text)))
        })
      )
    )
  )

/** Warnings and errors on standard error, one line each. */
const lines = Logger.replace(
  Logger.defaultLogger,
  Logger.make((entry) =>
    globalThis.console.error(legible(Logger.logfmtLogger.log(entry).replaceAll(/(?<!\s)\s*\n\s*/g, " | ")))
  )
)

/** How the command line speaks; `typed` are its words. */
export const layer = (typed: ReadonlyArray<string>) => Layer.merge(helpfully(typed), lines)
