import { readFileSync } from "node:fs"
import { Command } from "commander"
import { group, type MakeCommand, type ParsedCommand, parseCommand } from "./terminal/program.js"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const GLOBAL_HELP = `
Variables:
  Every flag has an environment variable, which its help names. Instead of a
  variable NAME, you can set NAME_FILE to the path of a file that contains the
  value, such as a key or a secret.

Exit status:
  0    The command succeeded. verify: the signature is valid. serve and
       receive: a signal or a key stopped the command.
  1    The command was refused or failed. Standard error says why, and what
       to do.
  130  Ctrl-C interrupted the command before it finished.`

/** The commands and their descriptions under the headings of the help. */
const headings = {
  "Run the service:": {
    serve: "Serve the API over HTTP, until SIGTERM or SIGINT",
    dispatch: "Send a database's webhooks and close its old tickets, until SIGTERM or SIGINT",
    migrate: "Update a Postgres database to the current schema"
  },
  "Manage its data:": {
    shop: "Manage shops and their settings in a database",
    key: "Manage a shop's API keys in a database",
    webhook: "Manage a shop's webhook and its deliveries, in a database or a running sandbox",
    client: "Manage clients' accounts and act for clients, in a database",
    ticket: "Print the QR code of a ticket's page, for receipts",
    import: "Import another system's tickets from CSV or JSON lines into a database",
    export: "Export all of a shop's tickets from a database as CSV or JSON lines",
    audit: "Print the audit log of a database: what owners and operators did"
  },
  "Look after the database:": {
    check: "Check that the data in a database are consistent, without changing them",
    secrets: "Encrypt the webhook secrets in a database",
    cell: "Manage cells, the schemas or clusters that each hold some of the shops"
  },
  "Build and test against it:": {
    logs: "Print the requests to a sandbox's API as they arrive",
    receive: "Receive webhooks, verify them, drop duplicates and print each event",
    verify: "Check a webhook's signature",
    scenario: "Run test files in YAML that list actions, times and expected results",
    simulate: "Simulate shops with faults from a seed, and check every invariant",
    conform: "Test any server that implements the specification, rule by rule"
  },
  "Other:": {
    openapi: "Print the OpenAPI 3.1 document",
    completions: "Print the completion script for bash, zsh or fish"
  }
} as const

type KeysOf<A> = A extends unknown ? keyof A : never

/** Loads the flags and the implementation of a command. Only the commands among the typed words are loaded. */
const loaders: Readonly<Record<KeysOf<(typeof headings)[keyof typeof headings]>, () => Promise<MakeCommand>>> = {
  serve: async () => (await import("./serve/ServeCommand.js")).serveCommand,
  dispatch: async () => (await import("./dispatch/DispatchCommand.js")).dispatchCommand,
  migrate: async () => (await import("./database/MigrateCommand.js")).migrateCommand,
  shop: async () => (await import("./owner/ShopCommand.js")).shopCommand,
  key: async () => (await import("./owner/KeyCommand.js")).keyCommand,
  webhook: async () => (await import("./owner/WebhookCommand.js")).webhookCommand,
  client: async () => (await import("./owner/ClientCommand.js")).clientCommand,
  ticket: async () => (await import("./owner/TicketCommand.js")).ticketCommand,
  import: async () => (await import("./transfer/ImportCommand.js")).importCommand,
  export: async () => (await import("./transfer/ExportCommand.js")).exportCommand,
  audit: async () => (await import("./owner/AuditCommand.js")).auditCommand,
  check: async () => (await import("./database/CheckCommand.js")).checkCommand,
  secrets: async () => (await import("./database/SecretsCommand.js")).secretsCommand,
  cell: async () => (await import("./database/CellCommand.js")).cellCommand,
  logs: async () => (await import("./logs/LogsCommand.js")).logsCommand,
  receive: async () => (await import("./receive/ReceiveCommand.js")).receiveCommand,
  verify: async () => (await import("./verify/VerifyCommand.js")).verifyCommand,
  scenario: async () => (await import("./scenario/ScenarioCommand.js")).scenarioCommand,
  simulate: async () => (await import("./simulate/SimulateCommand.js")).simulateCommand,
  conform: async () => (await import("./conform/ConformCommand.js")).conformCommand,
  openapi: async () => (await import("./openapi/OpenApiCommand.js")).openApiCommand,
  completions: async () => (await import("./terminal/completions.js")).completionsCommand(makeWorkshop)
}

/** `makeWorkshop` with its commands. The help lists every command, but only the needed ones are loaded. */
const makeWorkshopWith = async (isNeeded: (name: string) => boolean): Promise<MakeCommand> => {
  const groups = Object.entries(headings).map(async ([heading, commands]) => {
    const subcommands = Object.entries(commands).map(async ([name, description]): Promise<MakeCommand> => {
      const make = isNeeded(name) ? await loaders[name as keyof typeof loaders]() : () => new Command(name)
      return (choose) => make(choose).summary(description).description(description)
    })
    return [heading, await Promise.all(subcommands)] as const
  })
  const workshop = group(
    {
      name: "workshop",
      description: "Run, manage and test the workshop ticket service",
      examples: ["workshop serve --sandbox --demo --store memory", "workshop receive --register http://127.0.0.1:4010"]
    },
    await Promise.all(groups)
  )
  return (choose) =>
    workshop(choose)
      .version(version, "--version", "Print the version.")
      .option("--no-color", "Print no colours. NO_COLOR does the same. FORCE_COLOR prints colours even into a pipe.")
      .addHelpText("after", GLOBAL_HELP)
}

/** `makeWorkshop` with all its commands. */
export const makeWorkshop = (): Promise<MakeCommand> => makeWorkshopWith(() => true)

/** Parses a command line, given the words after `makeWorkshop`. */
export const parseCommandLine = async (words: ReadonlyArray<string>): Promise<ParsedCommand> =>
  parseCommand(await makeWorkshopWith((name) => words.includes(name)), words)
