import { looksLikeTestKey } from "@workshop/core/internal"
import { CONNECTION_LIMITS, type ConnectionLimits } from "@workshop/http-node"
import { isStrongToken, sandboxAllowed, TOKEN_CHARACTERS } from "@workshop/http-node/internal"
import { databaseAddressFlags, dataDirFlag, noMigrateFlag, STORES, secretsKeyFlag } from "../database/StoreChoice.js"
import { keepEvents, refuseNetwork, signatureHeader, webhookPort } from "../dispatch/WebhookOptions.js"
import { accessLog, observeOptions } from "../observe/ObserveOptions.js"
import { optionalFlag, toggleFlag, type Values, valueFlag } from "../terminal/commands.js"
import { duration, host, oneOf, port, wholeNumber } from "../terminal/decoders.js"
import { trackingOptions } from "./TrackingOptions.js"

const decoder = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** The flags that limit the connections of clients. */
const connectionOptions = {
  maxConnections: valueFlag(
    "--max-connections <number>",
    "How many connections may be open. When all are in use, the server closes an idle connection for each new one.",
    { fallback: String(CONNECTION_LIMITS.maxConnections), decoder }
  ),
  maxConnectionsPerAddress: optionalFlag(
    "--max-connections-per-address <number>",
    `How many connections one address may have. The default is ${CONNECTION_LIMITS.maxConnectionsPerAddress}, or no limit with --trust-proxy, because all connections come from the proxy.`,
    { decoder }
  ),
  maxRequestsPerConnection: valueFlag(
    "--max-requests-per-connection <number>",
    "How many requests the server accepts on one connection before it closes the connection.",
    { fallback: String(CONNECTION_LIMITS.maxRequestsPerConnection), decoder }
  ),
  maxUnreadBytes: valueFlag(
    "--max-unread-bytes <number>",
    "How many bytes of responses may wait for clients to read them. Above this limit, the server closes the slowest connections.",
    { fallback: String(CONNECTION_LIMITS.maxUnreadBytes), decoder }
  ),
  ipv6Prefix: valueFlag(
    "--ipv6-prefix <bits>",
    "The prefix length, in bits, of an IPv6 network that counts as one address.",
    { decoder: wholeNumber(16, 128), fallback: String(CONNECTION_LIMITS.ipv6Prefix) }
  )
}

/** The limits of connections that the flags set. */
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

/** The flags of the store. */
const storeOptions = {
  store: optionalFlag(
    "--store <store>",
    "The store: an embedded Postgres (embedded), your own (postgres), or memory, whose data are lost when the process ends. The default is postgres if a database URL is set, else embedded.",
    oneOf(STORES)
  ),
  ...databaseAddressFlags("The Postgres database, such as postgres://user:password@host/name."),
  dataDir: dataDirFlag("The folder of the embedded Postgres."),
  noMigrate: noMigrateFlag,
  secretsKey: secretsKeyFlag
}

/** The flags of webhooks and of the background work. */
const webhookOptions = {
  noDispatcher: toggleFlag("no-dispatcher", "Leave deliveries and closures to workshop dispatch."),
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork
}

/** The flags of the server itself. */
const serverOptions = {
  host: valueFlag("--host <address>", "The address to listen on. 0.0.0.0 means all addresses of this machine.", {
    decoder: host,
    fallback: "127.0.0.1"
  }),
  port: valueFlag("--port <number>", "The port to listen on; 0 selects a free one.", {
    decoder: port,
    fallback: "4010"
  }),
  trustProxy: toggleFlag(
    "trust-proxy",
    "Trust the last address of X-Forwarded-For. Use it only behind a proxy that sets that header."
  ),
  shutdownDelay: valueFlag(
    "--shutdown-delay <duration>",
    "How long to keep serving after SIGTERM while /readyz returns 503, so that load balancers stop sending requests here.",
    { decoder: duration, fallback: "0s" }
  ),
  words: optionalFlag(
    "--words <file>",
    "A file of words to refuse on tickets, one word or phrase per line, instead of the default words of each language."
  )
}

/** The form of the keys that `looksLikeTestKey` accepts. */
const TEST_KEY_FORM = "wk_test_ followed by 8 to 64 letters, digits, - or _"

/** The flags of the sandbox. */
const sandboxOptions = {
  sandbox: toggleFlag(
    "sandbox",
    "Also serve /sandbox, where a tester can act as the app, the owner and the client, and can move the clock."
  ),
  sandboxToken: optionalFlag(
    "--sandbox-token <token>",
    `The bearer token that every sandbox request must send, at least ${TOKEN_CHARACTERS} characters long. Required if other machines can reach the sandbox.`
  ),
  sandboxOnRealData: toggleFlag(
    "sandbox-on-real-data",
    "Allow the sandbox on production data. The sandbox gives out keys to every shop, and moves time forward permanently."
  ),
  demoKey: optionalFlag("--demo-key <key>", `A fixed API key for the first shop or the demo shop: ${TEST_KEY_FORM}.`),
  demo: toggleFlag(
    "demo",
    "Create a demo shop with a loyalty programme, clients and tickets, or reuse the demo shop of an earlier start."
  )
}

/** The flags of `workshop serve` under the headings of its help (Specification, Commands). */
export const serveHeadings = {
  "Store:": storeOptions,
  "Server:": serverOptions,
  "Connections:": connectionOptions,
  "Webhooks:": webhookOptions,
  "Sandbox:": sandboxOptions,
  "Clients' pages:": trackingOptions,
  "Logs and traces:": { ...observeOptions, accessLog }
}

/** The flags of `workshop serve` (Specification, Commands). */
export const serveOptions = {
  ...storeOptions,
  ...serverOptions,
  ...connectionOptions,
  ...webhookOptions,
  ...sandboxOptions,
  ...trackingOptions,
  ...observeOptions,
  accessLog
}

/** The values of the flags. */
export type ServeFlags = Values<typeof serveOptions>

/** The flags that each store does not use. */
const UNUSED_FLAGS = {
  memory: ["databaseUrl", "schema", "cells", "dataDir"],
  embedded: ["databaseUrl"],
  postgres: ["dataDir"]
} as const satisfies Record<NonNullable<ServeFlags["store"]>, ReadonlyArray<keyof ServeFlags>>

/**
 * The error for a typed flag that the store does not use, because its user would get data that they did not mean. A
 * variable that the store does not use is no error, because it may be meant for other commands.
 */
const unusedFlagMessage = (
  store: ServeFlags["store"],
  isTyped: (name: keyof ServeFlags) => boolean
): string | undefined => {
  const name = store === null ? undefined : UNUSED_FLAGS[store].find(isTyped)
  return name === undefined
    ? undefined
    : `--store ${store} does not use ${serveOptions[name].long}. Omit one of the two.`
}

/**
 * The conflicts between flags, each with advice. The conflicts are checked here and not by decoders, because the
 * message of a decoder would repeat the token and the key.
 */
const conflictsOf = (flags: ServeFlags): ReadonlyArray<readonly [isConflict: boolean, message: string]> => {
  const { store, noDispatcher, sandbox, sandboxToken, demoKey, host } = flags
  return [
    [
      noDispatcher && store === "memory",
      "--no-dispatcher leaves deliveries to another process, which cannot access the data of --store memory. Omit one of the two."
    ],
    [
      noDispatcher && sandbox,
      "A sandbox sends deliveries by its own clock, so another process cannot send them. Omit --no-dispatcher or --sandbox."
    ],
    [
      !sandbox && sandboxToken !== null,
      "--sandbox-token protects the sandbox, which is off. Add --sandbox, or omit --sandbox-token."
    ],
    [
      !sandbox && demoKey !== null,
      "--demo-key sets a key of the sandbox, which is off. Add --sandbox, or omit --demo-key."
    ],
    [demoKey !== null && !looksLikeTestKey(demoKey), `--demo-key (or WORKSHOP_DEMO_KEY) must be ${TEST_KEY_FORM}.`],
    [
      sandboxToken !== null && !isStrongToken(sandboxToken),
      `--sandbox-token (or WORKSHOP_SANDBOX_TOKEN) must have at least ${TOKEN_CHARACTERS} characters. Create a token with openssl rand -hex 16.`
    ],
    [
      sandbox && !sandboxAllowed(host, sandboxToken),
      `Sandbox requests need no API key, so a sandbox that listens on ${host} needs a token. Set WORKSHOP_SANDBOX_TOKEN, or listen on 127.0.0.1.`
    ]
  ]
}

/** The error for flags that cannot be used together; undefined if all can. */
export const flagConflict = (flags: ServeFlags, isTyped: (name: keyof ServeFlags) => boolean): string | undefined => {
  const [, message] = conflictsOf(flags).find(([isConflict]) => isConflict) ?? [
    true,
    unusedFlagMessage(flags.store, isTyped)
  ]
  return message
}
