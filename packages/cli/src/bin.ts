import { readFileSync } from "node:fs"
import { CliConfig, Command, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Logger, LogLevel } from "effect"
import { CommandRefused, layer as oneSentence } from "./OneSentence.js"
import { serveCommand } from "./ServeCommand.js"
import { exitAtSecondSignal } from "./secondSignal.js"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const workshop = Command.make("workshop", {}, () =>
  Effect.fail(new CommandRefused({ message: "Name a command, such as workshop serve; workshop --help lists them." }))
).pipe(Command.withDescription("Runs and drives the workshop ticket service"), Command.withSubcommands([serveCommand]))

exitAtSecondSignal()
Command.run(workshop, { name: "workshop", version })(process.argv).pipe(
  // What is wrong with the command line itself has been said.
  Effect.tapError((error) => (ValidationError.isValidationError(error) ? Effect.void : Console.error(error.message))),
  Effect.provide(
    Layer.mergeAll(
      NodeContext.layer,
      CliConfig.layer({ showBuiltIns: false, isCaseSensitive: true }),
      Logger.minimumLogLevel(LogLevel.Warning),
      oneSentence
    )
  ),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
