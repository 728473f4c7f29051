import { CONNECTION_LIMITS, type ConnectionLimits } from "@workshop/http-node"
import { keepEvents, refuseNetwork, signatureHeader, webhookPort } from "./dispatch/WebhookOptions.js"
import { accessLog, observeOptions } from "./observe/ObserveOptions.js"
import { databaseUrlFlag, dataDirFlag, noMigrateFlag, STORES, schemaFlag, secretsKey } from "./StoreChoice.js"
import { optional, toggle, type Values, value } from "./terminal/commands.js"
import { host, oneOf, port, wholeNumber } from "./terminal/decoders.js"

const decoder = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** The flags that bound what clients may use of a server. */
const connectionOptions = {
  maxConnections: value({
    flag: "--max-connections <number>",
    description: "How many connections may be open. Beyond that an idle one is closed for each new one.",
    fallback: String(CONNECTION_LIMITS.maxConnections),
    decoder
  }),
  maxConnectionsPerAddress: optional({
    flag: "--max-connections-per-address <number>",
    description: `How many connections one address may have. ${CONNECTION_LIMITS.maxConnectionsPerAddress} by default; with --trust-proxy all, because they are the proxy's.`,
    decoder
  }),
  maxRequestsPerConnection: value({
    flag: "--max-requests-per-connection <number>",
    description: "After how many requests a connection is closed.",
    fallback: String(CONNECTION_LIMITS.maxRequestsPerConnection),
    decoder
  }),
  maxUnreadBytes: value({
    flag: "--max-unread-bytes <number>",
    description:
      "How many bytes of responses may wait for clients to read them; beyond that the slowest clients are cut off.",
    fallback: String(CONNECTION_LIMITS.maxUnreadBytes),
    decoder
  }),
  ipv6Prefix: value({
    flag: "--ipv6-prefix <bits>",
    description: "How many bits of an IPv6 address name its network, which counts as one address.",
    decoder: wholeNumber(16, 128),
    fallback: String(CONNECTION_LIMITS.ipv6Prefix)
  })
}

/** The limits of connections that the flags ask for. */
export const connectionLimits = ({
  maxConnectionsPerAddress,
  ...limits
}: Values<typeof connectionOptions>): Partial<ConnectionLimits> => ({
  maxConnections: limits.maxConnections,
  ...(maxConnectionsPerAddress !== null && { maxConnectionsPerAddress }),
  maxRequestsPerConnection: limits.maxRequestsPerConnection,
  maxUnreadBytes: limits.maxUnreadBytes,
  ipv6Prefix: limits.ipv6Prefix
})

/** The flags of `workshop serve` (Specification, Commands). */
export const serveOptions = {
  store: optional({
    ...oneOf(STORES),
    flag: "--store <store>",
    description:
      "Where tickets are kept: in a Postgres of our own (embedded), in yours (postgres), or in memory, until the process ends. By default embedded, or postgres where a database is named."
  }),
  databaseUrl: databaseUrlFlag("The Postgres database, such as postgres://user:password@host:5432/name."),
  schema: schemaFlag,
  dataDir: dataDirFlag("Where the embedded Postgres keeps its data."),
  noMigrate: noMigrateFlag,
  secretsKey,
  noDispatcher: toggle("no-dispatcher", "Leave deliveries and closures to workshop dispatch."),
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  host: value({
    flag: "--host <address>",
    description: "The address to listen on; 0.0.0.0 listens on all.",
    decoder: host,
    fallback: "127.0.0.1"
  }),
  port: value({
    flag: "--port <number>",
    description: "The port to listen on; 0 takes a free one.",
    decoder: port,
    fallback: "4010"
  }),
  sandbox: toggle("sandbox", "Serve /sandbox too: all that the app, the owner, the client and the clock would do."),
  sandboxToken: optional({
    flag: "--sandbox-token <text>",
    description:
      "The bearer token that every call of the sandbox needs, at least 32 characters; must be set where other machines reach it."
  }),
  words: optional({
    flag: "--words <file>",
    description:
      "The words refused on tickets, one word or phrase a line, in place of the default ones of each language."
  }),
  sandboxOnRealData: toggle(
    "sandbox-on-real-data",
    "Serve the sandbox on data that no sandbox made: it gives out keys to every shop, and moves time for good."
  ),
  demoKey: optional({
    flag: "--demo-key <key>",
    description:
      "The key of the first shop, or of the demo shop, so that it stays the same: wk_test_ and 8 to 64 characters."
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

/** The values of the flags. */
export type ServeFlags = Values<typeof serveOptions>
