import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import {
  type ClientNotifier,
  Closer,
  Dispatcher,
  Entropy,
  NotificationSender,
  Notifiers,
  Profanity,
  probe,
  productionAddresses,
  type StorePorts,
  sandboxAddresses,
  TrackingPages,
  Workshop
} from "@workshop/core"
import { ClockAdvance, looksLikeTestKey, makeWordList, SandboxClock } from "@workshop/core/adapter"
import { pipeline, type RouteGroup, trackingRoutes, workshopRoutes } from "@workshop/core/http"
import { Directory } from "@workshop/core/store"
import { CONNECTION_LIMITS, type ConnectionLimits, serve as listen, pages } from "@workshop/http-node"
import { isGuard, SandboxReceivers, sandboxAllowed, sandboxRoutes, TOKEN_CHARACTERS } from "@workshop/http-node/sandbox"
import { Clock, Console, Effect, Layer, Ref } from "effect"
import { refuse } from "../CommandRefused.js"
import {
  CommandHints,
  choiceOf,
  databaseAddress,
  dataDirFlag,
  hintsFor,
  noMigrateFlag,
  STORES,
  type StoreChoice,
  secretsKey,
  storeLayer
} from "../database/StoreChoice.js"
import {
  dispatcherLayer,
  sandboxDispatcherLayer,
  startBackgroundWork,
  webhookPolicyFrom
} from "../dispatch/delivering.js"
import { keepEvents, refuseNetwork, signatureHeader, webhookPort } from "../dispatch/WebhookOptions.js"
import { accessLog, observeOptions, observing, watching } from "../observe/observing.js"
import { actingAs } from "../terminal/actor.js"
import { command, optional, toggle, type Values, value } from "../terminal/commands.js"
import { duration, host, oneOf, port, wholeNumber } from "../terminal/decoders.js"
import { baseOf, cannotListen, isEverywhere } from "../terminal/listenAddress.js"
import { demoShop, demoSteps } from "./DemoShop.js"
import {
  claimFirstShop,
  GivenKey,
  hasShops,
  linesIfAnotherProcessOpens,
  linesIfSandboxData,
  linesIfShopsExist,
  nextSteps,
  openFirstShop,
  refuseRealData,
  shopOfKey
} from "./FirstShop.js"
import { boundHeapGrowth } from "./heapGrowth.js"
import { trackingBase, trackingOptions, trackingPagesOf } from "./TrackingOptions.js"

const decoder = wholeNumber(1, Number.MAX_SAFE_INTEGER)

/** The flags that bound what clients may use of a server. */
const connectionOptions = {
  maxConnections: value(
    "--max-connections <number>",
    "The most connections that may be open. Beyond that the server closes an idle one for each new one.",
    { fallback: String(CONNECTION_LIMITS.maxConnections), decoder }
  ),
  maxConnectionsPerAddress: optional(
    "--max-connections-per-address <number>",
    `How many connections one address may have. The default is ${CONNECTION_LIMITS.maxConnectionsPerAddress}, or no limit with --trust-proxy, because all connections come from the proxy.`,
    { decoder }
  ),
  maxRequestsPerConnection: value(
    "--max-requests-per-connection <number>",
    "After how many requests a connection is closed.",
    { fallback: String(CONNECTION_LIMITS.maxRequestsPerConnection), decoder }
  ),
  maxUnreadBytes: value(
    "--max-unread-bytes <number>",
    "How many bytes of responses may wait for clients to read them; beyond that the server closes the slowest connections.",
    { fallback: String(CONNECTION_LIMITS.maxUnreadBytes), decoder }
  ),
  ipv6Prefix: value(
    "--ipv6-prefix <bits>",
    "How many bits of an IPv6 address name its network, which counts as one address.",
    { decoder: wholeNumber(16, 128), fallback: String(CONNECTION_LIMITS.ipv6Prefix) }
  )
}

/** The limits of connections that the flags ask for. */
const connectionLimits = ({
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
  store: optional(
    "--store <store>",
    "The store: an embedded Postgres (embedded), your own (postgres), or memory, whose data are lost when the process ends. The default is postgres if a database URL is set, else embedded.",
    oneOf(STORES)
  ),
  ...databaseAddress("The Postgres database, such as postgres://user:password@host:5432/name."),
  dataDir: dataDirFlag("The folder of the embedded Postgres."),
  noMigrate: noMigrateFlag,
  secretsKey,
  noDispatcher: toggle("no-dispatcher", "Leave deliveries and closures to workshop dispatch."),
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  host: value("--host <address>", "The address to listen on; 0.0.0.0 listens on all.", {
    decoder: host,
    fallback: "127.0.0.1"
  }),
  port: value("--port <number>", "The port to listen on; 0 selects a free one.", { decoder: port, fallback: "4010" }),
  sandbox: toggle(
    "sandbox",
    "Serve /sandbox too, with which a tester acts as the app, the owner and the client, and moves the clock."
  ),
  sandboxToken: optional(
    "--sandbox-token <text>",
    "The bearer token that every sandbox call must send, at least 32 characters. Required if other machines can reach the sandbox."
  ),
  words: optional(
    "--words <file>",
    "A file of words to refuse on tickets, one word or phrase per line, instead of the default words of each language."
  ),
  sandboxOnRealData: toggle(
    "sandbox-on-real-data",
    "Allow the sandbox on production data. It gives out keys to every shop, and moves time permanently."
  ),
  demoKey: optional(
    "--demo-key <key>",
    "The key of the first shop, or of the demo shop, so that it stays the same: wk_test_ and 8 to 64 characters."
  ),
  demo: toggle(
    "demo",
    "Open a demo shop with a programme, clients and tickets, or find that of an earlier start again."
  ),
  ...trackingOptions,
  shutdownDelay: value(
    "--shutdown-delay <duration>",
    "How long to go on serving after SIGTERM while /readyz is 503, so that a load balancer sends no more requests here.",
    { decoder: duration, fallback: "0s" }
  ),
  trustProxy: toggle("trust-proxy", "Trust the last address of X-Forwarded-For: only behind a proxy that sets it."),
  ...connectionOptions,
  ...observeOptions,
  accessLog
}

type ServeFlags = Values<typeof serveOptions>

const readWords = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) =>
      refuse(
        `The words in ${file} cannot be read (${error instanceof Error ? error.message : error}): give --words a text file with one word or phrase a line.`
      )
  })

/** The default words, or those of a file: one word or phrase a line; empty lines and lines that begin with # are passed over. */
const wordsLayer = (file: string | null) =>
  file === null
    ? Profanity.layer
    : Layer.unwrapEffect(
        Effect.gen(function* () {
          const words = (yield* readWords(file))
            .split("\n")
            .filter((line) => line.trim() !== "" && !line.startsWith("#"))
          if (words.length === 0)
            yield* Effect.logWarning(`${file} holds no words, so only words that shops forbid are refused.`)
          return Profanity.layerWords(makeWordList(words))
        })
      )

const services = <Ports, E>(
  flags: ServeFlags,
  store: Layer.Layer<Ports | StorePorts, E, Entropy>,
  clients: Layer.Layer<ClientNotifier>
) =>
  NotificationSender.Default.pipe(
    Layer.provide(Layer.merge(clients, Notifiers.logOwner)),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(store),
    Layer.provideMerge(Layer.succeed(TrackingPages, trackingPagesOf(flags))),
    Layer.provideMerge(wordsLayer(flags.words)),
    Layer.provideMerge(Entropy.layer)
  )

const serverLayer = (flags: ServeFlags, choice: StoreChoice) =>
  dispatcherLayer(flags, productionAddresses).pipe(
    Layer.provideMerge(services(flags, storeLayer(choice), Notifiers.elsewhere))
  )

/** Starts the clock of a sandbox on kept data at the latest time in them, because a shop's time must not go back. */
const caughtUp = Layer.effectDiscard(
  Effect.gen(function* () {
    const clock = yield* SandboxClock
    clock.holdAt(yield* (yield* Directory).latest)
    clock.release(false)
  })
)

const sandboxLayer = (flags: ServeFlags, choice: StoreChoice) =>
  ClockAdvance.layer([Closer, Dispatcher, NotificationSender]).pipe(
    Layer.provideMerge(sandboxDispatcherLayer(flags)),
    Layer.provideMerge(caughtUp),
    Layer.provideMerge(services(flags, storeLayer(choice), Notifiers.inboxOnly)),
    Layer.provideMerge(Layer.merge(SandboxClock.layer, SandboxReceivers.layer))
  )

/** The number of cells that a setting names, with the home cell. */
const countOf = (cells: string): number => {
  const words = cells.split(/\s+/).filter((word) => word !== "")
  return words.length === 1 && /^\d+$/.test(words[0]!) ? Number(words[0]) : words.length + 1
}

const kept: Readonly<Record<StoreChoice["store"], (choice: StoreChoice) => string>> = {
  memory: () => "Everything is kept in memory, until this process ends.",
  embedded: ({ dataDir }) => `Everything is kept in ${resolve(dataDir)}, by a Postgres of its own.`,
  postgres: ({ cells }) =>
    cells === undefined
      ? "Everything is kept in the Postgres database."
      : `Everything is kept in the cells of --cells: ${countOf(cells)} with the home cell.`
}

/** The lines about the sandbox: the list of its calls, and its effect on tickets that are kept. */
const aboutSandbox = (base: string, { store }: StoreChoice): ReadonlyArray<string> => [
  `All calls of the sandbox: ${base}/sandbox/openapi.json`,
  ...(store === "memory"
    ? []
    : ["Its clock never goes back, so tickets that have aged here stay old: for trials, add --store memory."])
]

/** The line about the console, in a trial without a sandbox. */
const aboutTrials = ({ store }: StoreChoice): ReadonlyArray<string> =>
  store === "postgres"
    ? []
    : ["For a console in a browser, with demo data: npx workshop serve --sandbox --demo --store memory"]

/** The line about stopping. npm passes Ctrl-C on, but not the signal of a `kill`: a script that kills npx leaves the server running. */
const aboutStopping = ({ npm_command }: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> =>
  npm_command === undefined
    ? []
    : [`Stop it with Ctrl-C, or in a script with kill ${process.pid}: a kill of npx or npm leaves it running.`]

/** The key that a start printed or was given. A reset of the sandbox makes it again, so that a till's configuration stays valid. */
type StartKey = Ref.Ref<string | null>

/** Opens the shop of a start, with its key. */
const openStartShop = (isDemo: boolean) =>
  isDemo ? Effect.map(demoShop, ({ key }) => key) : Effect.map(openFirstShop, ({ key }) => key)

/** Opens in an emptied store the shop of a start. */
const beginAnew = ({ demo }: ServeFlags, startKey: StartKey) =>
  Effect.gen(function* () {
    yield* Ref.set(startKey, yield* Effect.provideService(openStartShop(demo), GivenKey, yield* startKey))
  }).pipe(
    Effect.catchAll((failure) => (failure._tag === "StoreUnavailable" ? Effect.fail(failure) : Effect.die(failure)))
  )

/** The lines that a start prints about its shop, and the shop's key. Without `--sandbox`, a shop is opened only if there is none. */
const greeting = Effect.fnUntraced(function* (flags: ServeFlags, base: string) {
  const { demoKey } = flags
  const withLines = (lines: ReadonlyArray<string>, key = demoKey) => ({ lines, key })
  if (!flags.sandbox && (yield* Effect.flatMap(Directory, ({ isSandboxMade }) => isSandboxMade)))
    return withLines(linesIfSandboxData)
  const opened = demoKey === null ? null : yield* shopOfKey(demoKey)
  if (demoKey !== null && opened !== null) {
    const there = `The shop ${opened.name} of an earlier start is there, with the key of --demo-key:`
    return withLines(nextSteps(base, there, demoKey))
  }
  if (flags.demo) {
    const { key, ...demo } = yield* demoShop
    const steps = key === null ? [demo.opening] : [...nextSteps(base, demo.opening, key), ...demoSteps(base, key, demo)]
    return withLines(steps, key)
  }
  if (demoKey === null) {
    if (yield* hasShops) return withLines(yield* linesIfShopsExist)
    if (!(yield* claimFirstShop)) return withLines(yield* linesIfAnotherProcessOpens)
  }
  const { opening, key } = yield* openFirstShop
  return withLines(nextSteps(base, opening, key), key)
})

/** The reason in `/readyz` of a process that will stop soon. */
const STOPPING = "The process is stopping: send requests to other nodes."

/**
 * Waits to be interrupted. After SIGTERM the process first serves on, not ready, so that a load balancer finds that out before connections
 * are refused. A person at a terminal, who presses Ctrl-C, does not wait.
 */
const untilStopped = (delay_ms: number) =>
  Effect.gen(function* () {
    let isTerminated = false
    let isStopping = false
    const terminated = () => {
      isTerminated = true
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("SIGTERM", terminated)),
      () => Effect.sync(() => process.off("SIGTERM", terminated))
    )
    yield* probe({ complaint: Effect.sync(() => (isStopping ? STOPPING : null)) })
    const serveOn = Effect.suspend(() => {
      if (!isTerminated) return Effect.void
      isStopping = true
      return Effect.sleep(delay_ms)
    })
    return yield* Effect.onInterrupt(Effect.never, () => Effect.withClock(serveOn, Clock.make()))
  })

/** Serves the API and the pages, and delivers in the background, until interrupted. */
const run = <E, R>(
  flags: ServeFlags,
  choice: StoreChoice,
  groupsWith: (api: RouteGroup, startKey: StartKey) => Effect.Effect<ReadonlyArray<RouteGroup>, E, R>
) =>
  Effect.gen(function* () {
    const startKey = yield* Ref.make(flags.demoKey)
    if (flags.sandbox && !flags.sandboxOnRealData) yield* refuseRealData
    const routes = yield* groupsWith(yield* workshopRoutes({ validateResponses: false }), startKey)
    const groups = [...routes, ...(flags.trackingPages ? [yield* trackingRoutes()] : []), ...(yield* pages(flags))]
    // Before a shop is opened, because its key would be lost if the port is taken.
    const handle = yield* pipeline(groups, watching(flags))
    const { port } = yield* Effect.mapError(listen(handle, { ...flags, limits: connectionLimits(flags) }), cannotListen)
    const base = baseOf(flags.host, port)
    const tracking = yield* TrackingPages
    if (flags.trackingPages) tracking.base_url ??= trackingBase(base)
    const { lines, key } = yield* greeting(flags, base).pipe(
      Effect.provideService(GivenKey, flags.demoKey),
      Effect.provideService(CommandHints, hintsFor(choice, process.env))
    )
    yield* Ref.set(startKey, key)
    if (!flags.noDispatcher) yield* startBackgroundWork
    yield* Console.log(
      [
        `Listening on ${base}${isEverywhere(flags.host) ? ", and on every other address of this machine" : ""}`,
        ...(flags.sandbox ? [`Open the sandbox's console: ${base}/console`] : []),
        kept[choice.store](choice),
        ...lines,
        `Read and try the API: ${base}/docs`,
        ...(flags.trackingPages ? [`Clients follow their tickets at ${tracking.base_url}{tracking_code}`] : []),
        ...(flags.sandbox ? aboutSandbox(base, choice) : aboutTrials(choice)),
        ...aboutStopping(process.env)
      ].join("\n")
    )
    return yield* untilStopped(flags.shutdownDelay)
    // At once, so that all of them are done within the ten seconds of a shutdown (Specification, Commands).
  }).pipe(Effect.parallelFinalizers, Effect.scoped)

/** Runs a scenario apart from this sandbox: with the real clock, and services of its own. Its module is loaded when one is run. */
const runScenario = (text: string) =>
  Effect.promise(async (signal) => {
    const { runText } = await import("../testers/scenario/runFiles.js")
    return Effect.runPromise(runText(text), { signal })
  })

const served = (flags: ServeFlags) => {
  // A sandbox's clock makes everything old in a moment.
  const tidies = !flags.noDispatcher && !flags.sandbox
  const choice = { ...choiceOf(flags), ...(tidies ? { keepEvents_ms: flags.keepEvents } : {}) }
  if (!flags.sandbox)
    return Effect.provide(
      run(flags, choice, (api) => Effect.succeed([api])),
      serverLayer(flags, choice)
    )
  const options = {
    token: flags.sandboxToken,
    webhookPolicy: webhookPolicyFrom(sandboxAddresses, flags),
    validateResponses: false
  }
  const groupsWith = (api: RouteGroup, startKey: StartKey) =>
    Effect.gen(function* () {
      const begin = Effect.provide(
        beginAnew(flags, startKey),
        yield* Effect.context<Effect.Effect.Context<ReturnType<typeof beginAnew>>>()
      )
      return yield* sandboxRoutes({ ...options, api, begin, runScenario })
    })
  return Effect.provide(run(flags, choice, groupsWith), sandboxLayer(flags, choice))
}

const serve = (flags: ServeFlags) =>
  Effect.zipRight(Effect.sync(boundHeapGrowth), Effect.provide(served(flags), observing(flags))).pipe(
    Effect.onInterrupt(() =>
      Console.log(flags.store === "memory" ? "Stopped; the data in memory are lost." : "Stopped; everything is kept.")
    )
  )

/** The flags that each store does not use. */
const unusedBy = {
  memory: ["databaseUrl", "schema", "cells", "dataDir"],
  embedded: ["databaseUrl"],
  postgres: ["dataDir"]
} as const satisfies Record<NonNullable<ServeFlags["store"]>, ReadonlyArray<keyof ServeFlags>>

/** The error for a typed flag that the store does not use, because its user would get other data than they meant. A variable may be meant for other commands. */
const unused = (store: ServeFlags["store"], isTyped: (name: keyof ServeFlags) => boolean): string | undefined => {
  const name = store === null ? undefined : unusedBy[store].find(isTyped)
  return name === undefined
    ? undefined
    : `--store ${store} does not use ${serveOptions[name].long}: leave one of the two out.`
}

/** Flags that exclude each other, each with what to do. A decoder would repeat the token and the key in its message. */
const conflicts = (flags: ServeFlags): ReadonlyArray<readonly [isThere: boolean, message: string]> => {
  const { store, noDispatcher, sandbox, sandboxToken, demoKey, host } = flags
  return [
    [
      noDispatcher && store === "memory",
      "--no-dispatcher leaves deliveries to another process, which cannot see --store memory: leave one out."
    ],
    [
      noDispatcher && sandbox,
      "The sandbox drives deliveries by its own clock: leave out --no-dispatcher, or --sandbox."
    ],
    [
      !sandbox && sandboxToken !== null,
      "--sandbox-token guards the sandbox, which is off: add --sandbox, or leave the token out."
    ],
    [
      !sandbox && demoKey !== null,
      "--demo-key is a key of a sandbox, which is off: add --sandbox, or leave the key out."
    ],
    [
      demoKey !== null && !looksLikeTestKey(demoKey),
      "--demo-key (or WORKSHOP_DEMO_KEY) must be wk_test_ and 8 to 64 letters, digits, - or _."
    ],
    [
      sandboxToken !== null && !isGuard(sandboxToken),
      `--sandbox-token (or WORKSHOP_SANDBOX_TOKEN) must have at least ${TOKEN_CHARACTERS} characters: openssl rand -hex 16 makes one.`
    ],
    [
      sandbox && !sandboxAllowed(host, sandboxToken),
      `The sandbox has no keys, so on ${host} it needs a token: set WORKSHOP_SANDBOX_TOKEN, or listen on 127.0.0.1.`
    ]
  ]
}

/** `workshop serve` (Specification, Commands). */
export const serveCommand = command({
  name: "serve",
  examples: ["workshop serve", "workshop serve --sandbox --demo --store memory"],
  options: serveOptions,
  run: (flags, isTyped) =>
    Effect.gen(function* () {
      const [, message] = conflicts(flags).find(([isThere]) => isThere) ?? [true, unused(flags.store, isTyped)]
      if (message !== undefined) return yield* refuse(message)
      return yield* serve(flags)
    }).pipe(actingAs(null))
})
