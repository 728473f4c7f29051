import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { observeOptions } from "../observe/ObserveOptions.js"
import { databaseUrlFlag, noMigrateFlag, secretsKey } from "../StoreChoice.js"
import { command } from "../terminal/commands.js"
import { host, port } from "../terminal/decoders.js"
import { optional, value } from "../terminal/flags.js"
import { keepEvents, refuseNetwork, signatureHeader, webhookPort } from "./WebhookOptions.js"

/** The flags of `workshop dispatch` (Specification, Commands). */
export const dispatchOptions = {
  databaseUrl: databaseUrlFlag("The Postgres database, such as postgres://user:password@host:5432/name."),
  noMigrate: noMigrateFlag,
  secretsKey,
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  statusHost: value({
    flag: "--status-host <address>",
    description: "The address of --status-port; 0.0.0.0 listens on all.",
    decoder: host,
    fallback: "127.0.0.1"
  }),
  statusPort: optional({
    flag: "--status-port <number>",
    description: "Answer /healthz, /readyz and /metrics there; 0 takes a free port. By default no port is opened.",
    decoder: port
  }),
  ...observeOptions
}

const refused = new CommandRefused({
  message:
    "workshop dispatch works on a database that workshop serve --no-dispatcher uses: name it with --database-url."
})

/** `workshop dispatch` (Specification, Commands): deliveries, closures and messages alone, as many processes as wanted. */
export const dispatchCommand = command({
  name: "dispatch",
  examples: ["DATABASE_URL_FILE=/run/secrets/database-url workshop dispatch"],
  options: dispatchOptions,
  run: ({ databaseUrl, noMigrate, keepEvents, secretsKey: secretsKeys, ...flags }) =>
    Effect.gen(function* () {
      if (databaseUrl === null) return yield* refused
      const { dispatch } = yield* Effect.promise(() => import("./dispatch.js"))
      return yield* dispatch({ ...flags, databaseUrl, migrate: !noMigrate, keepEvents_ms: keepEvents, secretsKeys })
    })
})
