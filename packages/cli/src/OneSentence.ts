import { Console, Data, Effect, Layer, Logger, LogLevel } from "effect"
import { legible } from "./terminal/legible.js"

/** Why a command was not done, in one sentence that says what to do. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Any other refusal as that of a command, in its own words. */
export const refused = ({ message }: { readonly message: string }): CommandRefused => new CommandRefused({ message })

/** Prints nothing that a terminal would obey, and no white space at the end. */
const legibleConsole = Layer.unwrapEffect(
  Effect.consoleWith((base) =>
    Effect.succeed(
      Console.setConsole({
        ...base,
        log: (text = "") => base.log(legible(String(text).trimEnd())),
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

/** How the command line prints. */
export const output = Layer.mergeAll(legibleConsole, lines, Logger.minimumLogLevel(LogLevel.Warning))
