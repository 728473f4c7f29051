import { readFileSync } from "node:fs"
import { Command } from "commander"
import { Effect, Either } from "effect"
import { group, type MakeCommand, runOf } from "./terminal/commands.js"
import { completionsCommand } from "./terminal/completions.js"
import { output } from "./terminal/legible.js"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const EVERYWHERE = `
Variables:
  Every flag has an environment variable, which its help names. In place of any variable NAME,
  NAME_FILE names the file that holds its value, such as a key or a secret.

Exit status:
  0    done; for verify the signature is good, for serve and receive they ended as asked
  1    refused or failed; standard error says why and what to do
  130  interrupted with Ctrl-C before it was done`

/** A command, and what loads its flags and its work: help and errors need not wait for other commands. */
type Row = readonly [name: string, description: string, load: () => Promise<MakeCommand>]

const commands: ReadonlyArray<readonly [heading: string, rows: ReadonlyArray<Row>]> = [
  [
    "Run the service:",
    [
      [
        "serve",
        "Serve the API over HTTP, until SIGTERM or SIGINT",
        async () => (await import("./ServeCommand.js")).serveCommand
      ],
      [
        "dispatch",
        "Deliver and close what is due in a database, until SIGTERM or SIGINT",
        async () => (await import("./dispatch/DispatchCommand.js")).dispatchCommand
      ],
      [
        "migrate",
        "Bring a Postgres database to the current schema",
        async () => (await import("./MigrateCommand.js")).migrateCommand
      ]
    ]
  ],
  [
    "Manage its data:",
    [
      [
        "shop",
        "Shops and their settings, against a database",
        async () => (await import("./owner/ShopCommand.js")).shopCommand
      ],
      ["key", "A shop's API keys, against a database", async () => (await import("./owner/KeyCommand.js")).keyCommand],
      [
        "webhook",
        "A shop's webhook and its deliveries, against a database",
        async () => (await import("./owner/WebhookCommand.js")).webhookCommand
      ],
      [
        "client",
        "Clients' accounts, and what clients do, against a database",
        async () => (await import("./owner/ClientCommand.js")).clientCommand
      ],
      [
        "audit",
        "List what owners and operators did, against a database",
        async () => (await import("./owner/AuditCommand.js")).auditCommand
      ]
    ]
  ],
  [
    "Look after the database:",
    [
      [
        "check",
        "Check that the data in a database are consistent, and change nothing",
        async () => (await import("./check/CheckCommand.js")).checkCommand
      ],
      [
        "secrets",
        "How the secrets of webhooks are stored in a database",
        async () => (await import("./secrets/SecretsCommand.js")).secretsCommand
      ]
    ]
  ],
  [
    "Build and test against it:",
    [
      [
        "receive",
        "Receive webhooks: verify, drop duplicates, print each event",
        async () => (await import("./receive/ReceiveCommand.js")).receiveCommand
      ],
      ["verify", "Check a webhook's signature", async () => (await import("./verify/VerifyCommand.js")).verifyCommand],
      [
        "scenario",
        "Readable scenarios: acts, clock and expectations in YAML",
        async () => (await import("./scenario/ScenarioCommand.js")).scenarioCommand
      ],
      [
        "simulate",
        "Play whole shops with faults from a seed, and check every invariant",
        async () => (await import("./simulate/SimulateCommand.js")).simulateCommand
      ],
      [
        "conform",
        "Test any server of this specification, rule by rule",
        async () => (await import("./conform/ConformCommand.js")).conformCommand
      ]
    ]
  ],
  [
    "Other:",
    [
      [
        "openapi",
        "Print the OpenAPI 3.1 document",
        async () => (await import("./openapi/OpenApiCommand.js")).openApiCommand
      ],
      [
        "completions",
        "Print the script by which bash, zsh or fish completes workshop",
        async () => completionsCommand(workshop)
      ]
    ]
  ]
]

/** `workshop` with its commands, of which those that are not needed are only listed. */
const workshopWith = async (isNeeded: (name: string) => boolean): Promise<MakeCommand> => {
  const made = commands.map(async ([heading, rows]) => {
    const below = rows.map(async ([name, description, load]): Promise<MakeCommand> => {
      const make = isNeeded(name) ? await load() : () => new Command(name)
      return (choose) => make(choose).summary(description).description(description)
    })
    return [heading, await Promise.all(below)] as const
  })
  const workshop = group(
    {
      name: "workshop",
      description: "Runs and drives the workshop ticket service",
      examples: ["workshop serve --sandbox --demo --store memory", "workshop receive --register http://127.0.0.1:4010"]
    },
    await Promise.all(made)
  )
  return (choose) =>
    workshop(choose)
      .version(version, "--version", "Print the version.")
      .option("--no-color", "Print no colours; NO_COLOR does the same, and FORCE_COLOR asks for them in a pipe too.")
      .addHelpText("after", EVERYWHERE)
}

/** `workshop` with all its commands. */
export const workshop = (): Promise<MakeCommand> => workshopWith(() => true)

/** Does what a command line asks for, its first two words being those of the process; the caller prints its failure. */
export const commandLine = (argv: ReadonlyArray<string>) => {
  const words = argv.slice(2)
  return Effect.promise(() => workshopWith((name) => words.includes(name))).pipe(
    Effect.flatMap((make) => Either.getOrElse(runOf(make, words), Effect.fail)),
    Effect.provide(output)
  )
}
