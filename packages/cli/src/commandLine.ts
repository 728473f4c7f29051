import { readFileSync } from "node:fs"
import { Effect, Either } from "effect"
import { checkCommand } from "./check/CheckCommand.js"
import { conformCommand } from "./conform/ConformCommand.js"
import { dispatchCommand } from "./dispatch/DispatchCommand.js"
import { migrateCommand } from "./MigrateCommand.js"
import { output } from "./OneSentence.js"
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
import { group, type MakeCommand, runOf } from "./terminal/commands.js"
import { completionsCommand } from "./terminal/completions.js"
import { verifyCommand } from "./verify/VerifyCommand.js"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const EVERYWHERE = `
Variables:
  Every flag has an environment variable, which its help names. In place of any variable NAME,
  NAME_FILE names the file that holds its value, such as a key or a secret.

Exit status:
  0    done; for verify the signature is good, for serve and receive they ended as asked
  1    refused or failed; standard error says why and what to do
  130  interrupted with Ctrl-C before it was done`

/** `workshop` with all its commands. */
export const workshop: MakeCommand = (choose) =>
  group(
    {
      name: "workshop",
      description: "Runs and drives the workshop ticket service",
      examples: ["workshop serve --sandbox --demo --store memory", "workshop receive --register http://127.0.0.1:4010"]
    },
    [
      ["Run the service:", [serveCommand, dispatchCommand, migrateCommand]],
      ["Manage its data:", [shopCommand, keyCommand, webhookCommand, clientCommand, auditCommand]],
      ["Look after the database:", [checkCommand, secretsCommand]],
      ["Build and test against it:", [receiveCommand, verifyCommand, scenarioCommand, simulateCommand, conformCommand]],
      ["Other:", [openApiCommand, completionsCommand(() => workshop)]]
    ]
  )(choose)
    .version(version, "--version", "Print the version.")
    .option("--no-color", "Print no colours; NO_COLOR does the same, and FORCE_COLOR asks for them in a pipe too.")
    .addHelpText("after", EVERYWHERE)

/** Does what a command line asks for, its first two words being those of the process; the caller prints its failure. */
export const commandLine = (argv: ReadonlyArray<string>) =>
  Effect.suspend(() => Either.getOrElse(runOf(workshop, argv.slice(2)), Effect.fail)).pipe(Effect.provide(output))
