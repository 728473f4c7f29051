import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Deferred, Effect, Schedule, type Scope } from "effect"
import { accountFor } from "./Account.js"
import { binariesFor } from "./Binaries.js"
import { clusterIn, makeRoom, NAME } from "./Cluster.js"
import { type EmbeddedRefused, failed } from "./EmbeddedRefused.js"
import { ensureDatabase } from "./ensureDatabase.js"
import { type Place, placeIn } from "./Place.js"
import { freePort, type Launch, launch, type Postmaster } from "./Postmaster.js"
import { pidLines, stopStaleServer } from "./StaleServer.js"

/** How an embedded Postgres is to run. */
export interface EmbeddedOptions {
  /** The folder that keeps the data, made where it is missing; one process at a time. */
  readonly dataDir: string
  /** The port on 127.0.0.1; left out, a free one. */
  readonly port?: number
  /** Settings of postgresql.conf; everything durable is on unless turned off here, as `throwaway` does. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A Postgres that accepts connections, for as long as its scope is open. */
export interface EmbeddedPostgres {
  /** The connection string of the role and the database `workshop`, with the password in it. */
  readonly url: string
  readonly port: number
  /** The server's own log. */
  readonly log: string
}

/** For data that need not outlive the process: several times faster, and a crash loses everything. */
export const throwaway: Readonly<Record<string, string>> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_connections: "200"
}

const SETTINGS: Readonly<Record<string, string>> = { max_connections: "200", cluster_name: NAME }

/** About a tenth of a second apart at first: the children of a killed server take a moment to notice. */
const AGAIN = Schedule.intersect(Schedule.exponential("100 millis", 1.5), Schedule.recurs(7))

/** A server that was killed is started again on its port; one that will not stay up is given up, and said so. */
const RESTARTS = Schedule.intersect(Schedule.exponential("200 millis"), Schedule.recurs(8))

interface Started {
  readonly server: Postmaster
  readonly port: number
}

/** Starts servers, one at a time: a port of no one's choice is chosen anew until one has served, and kept from then on. */
const launching = (config: Omit<Launch, "port">, wanted: number | undefined) => {
  let kept = wanted
  const once = Effect.gen(function* () {
    const port = kept ?? (yield* freePort)
    const server = yield* launch({ ...config, port })
    kept = port
    return { server, port } satisfies Started
  })
  return Effect.retry(once, { while: (error) => error._tag === "TryAgain", schedule: AGAIN }).pipe(
    Effect.mapError((error) => (error._tag === "TryAgain" ? error.refused : error))
  )
}

const supervised = (
  { log }: Place,
  launched: ReturnType<typeof launching>,
  started: Deferred.Deferred<Started, EmbeddedRefused>
) => {
  const once = Effect.gen(function* () {
    const running = yield* launched
    const isFirst = yield* Deferred.succeed(started, running)
    if (!isFirst) yield* Effect.logInfo("The embedded Postgres runs again")
    yield* running.server.exited
    yield* Effect.logWarning(`The embedded Postgres ended by itself and is started again; see ${log}`)
  })
  return Effect.scoped(once).pipe(
    Effect.repeat(Schedule.resetAfter(RESTARTS, "1 minute")),
    Effect.zipRight(Effect.logError(`The embedded Postgres does not stay up; see ${log}`)),
    Effect.catchAll((refused) =>
      Effect.flatMap(Deferred.fail(started, refused), (isFirst) =>
        isFirst ? Effect.void : Effect.logError(refused.message)
      )
    )
  )
}

const urlOf = (database: string, password: string, port: number): string =>
  `postgres://${NAME}:${password}@127.0.0.1:${port}/${database}`

/**
 * Runs a real Postgres from the binaries that npm brings, in `dataDir` and on loopback alone, until the scope closes;
 * then it is stopped in good order. It is made on the first start, recovers what was committed after a crash, and is
 * started again should it die. Under root it runs as an unprivileged user. Fails with one sentence where it cannot run
 * or another process uses the folder (Specification, Commands).
 */
export const start = (options: EmbeddedOptions): Effect.Effect<EmbeddedPostgres, EmbeddedRefused, Scope.Scope> =>
  Effect.gen(function* () {
    const place = placeIn(resolve(options.dataDir))
    const account = yield* Effect.try({
      try: () => accountFor(place.cluster),
      catch: (error) => failed(place.dataDir, error)
    })
    yield* makeRoom(place, account)
    const binaries = yield* binariesFor(place.folder, account)
    const password = yield* clusterIn(place, binaries, account)
    yield* stopStaleServer(place)
    const settings = { ...SETTINGS, ...options.settings }
    const started = yield* Deferred.make<Started, EmbeddedRefused>()
    const launched = launching({ place, binaries, account, settings }, options.port)
    yield* Effect.forkScoped(supervised(place, launched, started))
    const { port } = yield* Deferred.await(started)
    yield* ensureDatabase(NAME, (database) => urlOf(database, password, port), place)
    return { url: urlOf(NAME, password, port), port, log: place.log }
  })

const joined = (place: Place, refused: EmbeddedRefused) =>
  Effect.try({
    try: () => {
      const [, , , port, , , , state] = pidLines(place)
      return state?.trim() === "ready"
        ? urlOf(NAME, readFileSync(place.password, "utf8").trim(), Number(port))
        : undefined
    },
    catch: (error) => failed(place.dataDir, error)
  }).pipe(Effect.flatMap((url) => (url === undefined ? refused : Effect.succeed({ url }))))

/**
 * The Postgres of a data directory for a short while: the one that another process of this user runs there now, or else
 * one that is started, and stopped with the scope. So an operator's command works beside a service that runs.
 */
export const share = (
  options: EmbeddedOptions
): Effect.Effect<Pick<EmbeddedPostgres, "url">, EmbeddedRefused, Scope.Scope> =>
  Effect.catchIf(
    start(options),
    ({ reason }) => reason === "taken",
    (refused) => joined(placeIn(resolve(options.dataDir)), refused)
  )
