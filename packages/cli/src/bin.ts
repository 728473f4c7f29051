import { readFileSync } from "node:fs"
import { CliConfig, Command, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Logger, LogLevel } from "effect"
import { conformCommand } from "./conform/ConformCommand.js"
import { dispatchCommand } from "./dispatch/DispatchCommand.js"
import { migrateCommand } from "./MigrateCommand.js"
import { CommandRefused, layer as oneSentence } from "./OneSentence.js"
import { openApiCommand } from "./openapi/OpenApiCommand.js"
import { clientCommand } from "./owner/ClientCommand.js"
import { keyCommand } from "./owner/KeyCommand.js"
import { shopCommand } from "./owner/ShopCommand.js"
import { webhookCommand } from "./owner/WebhookCommand.js"
import { receiveCommand } from "./receive/ReceiveCommand.js"
import { serveCommand } from "./ServeCommand.js"
import { scenarioCommand } from "./scenario/ScenarioCommand.js"
import { exitAtSecondSignal } from "./secondSignal.js"
import { simulateCommand } from "./simulate/SimulateCommand.js"
import { argumentsOf } from "./terminal/arguments.js"
import { exitAtBrokenPipe } from "./terminal/brokenPipe.js"
import { type Outlined, outlineOf } from "./terminal/CommandOutline.js"
import { completionsCommand } from "./terminal/CompletionsCommand.js"
import { exitStatusOf } from "./terminal/exitStatus.js"
import { verifyCommand } from "./verify/VerifyCommand.js"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const workshop = Command.make("workshop", {}, () =>
  Effect.fail(new CommandRefused({ message: "Name a command, such as workshop serve; workshop --help lists them." }))
).pipe(
  Command.withDescription("Runs and drives the workshop ticket service"),
  Command.withSubcommands([
    serveCommand,
    dispatchCommand,
    migrateCommand,
    receiveCommand,
    scenarioCommand,
    simulateCommand,
    conformCommand,
    verifyCommand,
    openApiCommand,
    shopCommand,
    keyCommand,
    webhookCommand,
    clientCommand,
    completionsCommand((): ReadonlyArray<Outlined> => outlineOf(workshop))
  ])
)

exitAtSecondSignal()
exitAtBrokenPipe()
const argv = argumentsOf(process.argv)
Command.run(workshop, { name: "workshop", version })(argv).pipe(
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
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => onExit(exitStatusOf(exit, argv))
  })
)
