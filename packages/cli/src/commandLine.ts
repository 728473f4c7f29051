import { readFileSync } from "node:fs"
import { CliConfig, Command, HelpDoc, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { type Console, Effect, Either, Layer, Logger, LogLevel } from "effect"
import { checkCommand } from "./check/CheckCommand.js"
import { conformCommand } from "./conform/ConformCommand.js"
import { dispatchCommand } from "./dispatch/DispatchCommand.js"
import { migrateCommand } from "./MigrateCommand.js"
import { CommandRefused, layer as oneSentence, silentErrors, wrongWords } from "./OneSentence.js"
import { openApiCommand } from "./openapi/OpenApiCommand.js"
import { auditCommand } from "./owner/AuditCommand.js"
import { clientCommand } from "./owner/ClientCommand.js"
import { keyCommand } from "./owner/KeyCommand.js"
import { shopCommand } from "./owner/ShopCommand.js"
import { webhookCommand } from "./owner/WebhookCommand.js"
import { receiveCommand } from "./receive/ReceiveCommand.js"
import { serveCommand } from "./ServeCommand.js"
import { scenarioCommand } from "./scenario/ScenarioCommand.js"
import { secretsCommand } from "./secrets/SecretsCommand.js"
import { simulateCommand } from "./simulate/SimulateCommand.js"
import { type Outlined, outlineOf } from "./terminal/CommandOutline.js"
import { completionsCommand } from "./terminal/CompletionsCommand.js"
import { readArguments } from "./terminal/readArguments.js"
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
    auditCommand,
    secretsCommand,
    checkCommand,
    completionsCommand((): ReadonlyArray<Outlined> => outlineOf(workshop))
  ])
)

const commands = (console: Console.Console) =>
  Command.run(
    Command.transformHandler(workshop, (command) => Effect.withConsole(command, console)),
    { name: "workshop", version }
  )

/** Does what a command line asks for, its first two words being those of the process; the caller tells of its failure. */
export const commandLine = (argv: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [runtime = "", file = "", ...typed] = argv
    const words = yield* Either.mapLeft(
      readArguments(typed, outlineOf(workshop)),
      (message) => new CommandRefused({ message })
    )
    const console = yield* Effect.console
    // What the library prints of a wrong command line is the failure's message, which is told once.
    yield* Effect.withConsole(commands(console)([runtime, file, ...words]), silentErrors(console))
  }).pipe(
    Effect.catchIf(ValidationError.isValidationError, ({ error }) => wrongWords(HelpDoc.toAnsiText(error))),
    Effect.provide(
      Layer.mergeAll(
        NodeContext.layer,
        CliConfig.layer({ showBuiltIns: false, isCaseSensitive: true }),
        Logger.minimumLogLevel(LogLevel.Warning),
        oneSentence(argv.slice(2))
      )
    )
  )
