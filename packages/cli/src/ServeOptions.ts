import type { Command } from "@effect/cli"
import { connectionOptions } from "./ConnectionFlags.js"
import { keepEvents } from "./dispatch/DispatchOptions.js"
import { refuseNetwork, signatureHeader, webhookPort } from "./dispatch/WebhookOptions.js"
import { accessLog, observeOptions } from "./observe/ObserveOptions.js"
import { STORES } from "./StoreChoice.js"
import { databaseUrlFlag, dataDirFlag, noMigrateFlag, secretsKey } from "./StoreFlags.js"
import { toggle, value } from "./terminal/Flags.js"
import { host, oneOf, optional, port, text } from "./terminal/Readers.js"

/** The flags of `workshop serve` (Specification, Commands). */
export const serveOptions = {
  store: value({
    name: "store",
    placeholder: STORES.join("|"),
    description:
      "Where tickets are kept: in a Postgres of our own (embedded), in yours (postgres), or in memory, until the process ends. Default: embedded, or postgres where a database is named.",
    read: optional(oneOf(STORES)),
    fallback: ""
  }),
  databaseUrl: databaseUrlFlag("The Postgres database, such as postgres://user:password@host:5432/name."),
  dataDir: dataDirFlag("Where the embedded Postgres keeps its data."),
  noMigrate: noMigrateFlag,
  secretsKey,
  noDispatcher: toggle("no-dispatcher", "Leave deliveries and closures to workshop dispatch."),
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  host: value({
    name: "host",
    placeholder: "address",
    description: "The address to listen on; 0.0.0.0 listens on all.",
    read: host,
    fallback: "127.0.0.1"
  }),
  port: value({
    name: "port",
    placeholder: "number",
    description: "The port to listen on; 0 takes a free one.",
    read: port,
    fallback: "4010"
  }),
  sandbox: toggle("sandbox", "Serve /sandbox too: all that the app, the owner, the client and the clock would do."),
  sandboxToken: value({
    name: "sandbox-token",
    placeholder: "text",
    description:
      "Asked of every call of the sandbox as its bearer token, at least 32 characters; must be set where other machines reach it.",
    read: optional(text),
    fallback: ""
  }),
  words: value({
    name: "words",
    placeholder: "file",
    description:
      "The words refused on tickets, one word or phrase a line, in place of the default ones of each language.",
    read: optional(text),
    fallback: ""
  }),
  sandboxOnRealData: toggle(
    "sandbox-on-real-data",
    "Serve the sandbox on data that no sandbox made: it gives out keys to every shop, and moves time for good."
  ),
  demoKey: value({
    name: "demo-key",
    placeholder: "wk_test_...",
    description:
      "The key of the first shop, or of the demo shop, so that it stays the same: wk_test_ and 8 to 64 characters.",
    read: optional(text),
    fallback: ""
  }),
  demo: toggle(
    "demo",
    "Open a demo shop with a programme, clients and tickets, or find that of an earlier start again."
  ),
  trustProxy: toggle("trust-proxy", "Believe the last address of X-Forwarded-For: only behind a proxy that sets it."),
  ...connectionOptions,
  ...observeOptions,
  accessLog
}

/** The flags as they were read. */
export type ServeFlags = Command.Command.ParseConfig<typeof serveOptions>
