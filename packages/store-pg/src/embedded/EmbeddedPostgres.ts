import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { resolve } from "node:path"
import type { Entropy, StorePorts } from "@workshop/core"
import { isObject, mustBePositive, type OptionChecks } from "@workshop/core/internal"
import { Deferred, Effect, Layer, Schedule, type Scope } from "effect"
import { migrate } from "../cells/CellMigrations.js"
import type { MigratedStoreError } from "../MigratedStore.js"
import type { MigrationError } from "../migrate/MigrationError.js"
import { openMigrationSession } from "../migrate/Session.js"
import * as PgStore from "../PgStore.js"
import { inRealTime } from "../RealTime.js"
import { requireValidOptions, requireValidSchema, storeOptions } from "../StoreOptions.js"
import { postgresUserFor } from "./Account.js"
import { binariesFor } from "./Binaries.js"
import { clusterIn, ROLE_AND_DATABASE } from "./Cluster.js"
import { createFolder, type DataDirectory, dataDirectory, tryFiles } from "./DataDirectory.js"
import { type EmbeddedRefused, embeddedFailure } from "./EmbeddedRefused.js"
import { type Launch, launch, readyPort, stopStaleServer } from "./Postmaster.js"

/** The options of an embedded Postgres. */
export interface EmbeddedOptions {
  /** The folder of the data, which is created if it is missing. One process at a time can use it. */
  readonly dataDir: string
  /** The port on 127.0.0.1; a free one by default. */
  readonly port?: number
  /** Settings of postgresql.conf. Commits are durable unless these settings disable it, as {@link THROWAWAY_SETTINGS} does. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A Postgres that accepts connections, for as long as its scope is open. */
export interface EmbeddedPostgres {
  /** The connection string for the role and the database `workshop`, including the password. */
  readonly url: string
  /** The port on 127.0.0.1 on which the server listens. */
  readonly port: number
  /** The path of the server's log. */
  readonly log: string
}

/** Settings for data that need not outlive the process: writes are several times faster, and a crash loses all data. */
export const THROWAWAY_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_connections: "200"
}

const SETTINGS: Readonly<Record<string, string>> = { max_connections: "200", cluster_name: ROLE_AND_DATABASE }

/** The pauses between attempts to start, because the children of a killed server need a moment to end. */
const START_RETRIES = Schedule.intersect(Schedule.exponential("100 millis", 1.5), Schedule.recurs(7))

/**
 * The pauses before restarts of a server that ended by itself. There is no restart after eight restarts within a minute
 * of each other.
 */
const RESTARTS = Schedule.resetAfter(
  Schedule.intersect(Schedule.exponential("200 millis"), Schedule.recurs(8)),
  "1 minute"
)

/** A port of this machine on which no process listens. */
export const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Starts a server, and restarts it on the same port when it ends, until the scope closes. Succeeds with the port. */
const superviseServers = (config: Launch, wantedPort: number | undefined) =>
  Effect.gen(function* () {
    const { log } = config.directory
    const started = yield* Deferred.make<number, EmbeddedRefused>()
    let lastPort = wantedPort
    const attempt = Effect.gen(function* () {
      const port = lastPort ?? (yield* freePort)
      const exited = yield* launch(config, port)
      lastPort = port
      const isFirst = yield* Deferred.succeed(started, port)
      if (!isFirst) yield* Effect.logInfo("The embedded Postgres is running again")
      return exited
    }).pipe(Effect.retry({ while: ({ isTransient }) => isTransient === true, schedule: START_RETRIES }))
    const runServer = Effect.gen(function* () {
      yield* yield* attempt
      yield* Effect.logWarning(`The embedded Postgres ended unexpectedly and is being restarted. See ${log}`)
    })
    const supervisor = Effect.scoped(runServer).pipe(
      Effect.repeat(RESTARTS),
      Effect.zipRight(
        Effect.logError(
          `The embedded Postgres keeps ending and is not restarted any more. See ${log}, and restart this process`
        )
      ),
      Effect.catchAll((refused) =>
        Effect.flatMap(Deferred.fail(started, refused), (isFirst) =>
          isFirst ? Effect.void : Effect.logError(refused.message)
        )
      )
    )
    yield* Effect.forkScoped(supervisor)
    return yield* Deferred.await(started)
  })

const urlOf = (password: string, port: number, database: string = ROLE_AND_DATABASE): string =>
  `postgres://${ROLE_AND_DATABASE}:${password}@127.0.0.1:${port}/${database}`

const NO_SUCH_DATABASE = "3D000"

/** Creates the database `workshop` in a new cluster. */
const ensureDatabase = (password: string, port: number, { dataDir }: DataDirectory) =>
  Effect.scoped(openMigrationSession(urlOf(password, port))).pipe(
    Effect.catchIf(
      ({ code }) => code === NO_SUCH_DATABASE,
      () =>
        Effect.scoped(
          Effect.flatMap(openMigrationSession(urlOf(password, port, "postgres")), ({ run }) =>
            run(`create database ${ROLE_AND_DATABASE}`)
          )
        )
    ),
    Effect.mapError(({ what }) => embeddedFailure(dataDir, what))
  )

/**
 * Runs a real Postgres in `dataDir`, from the binaries that npm installs, until the scope closes. It listens on
 * loopback only. The first start creates the cluster. A start after a crash recovers all commits. A server that dies is
 * restarted. If this process runs as root, Postgres runs as an unprivileged user. Fails with `EmbeddedRefused` if
 * Postgres cannot run or another process uses the folder (Specification, Commands).
 */
export const startServer = (options: EmbeddedOptions): Effect.Effect<EmbeddedPostgres, EmbeddedRefused, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = dataDirectory(resolve(options.dataDir))
    const account = yield* tryFiles(directory, () => postgresUserFor(directory.cluster))
    yield* createFolder(directory, account)
    const binaries = yield* binariesFor(directory, account)
    const password = yield* clusterIn(directory, binaries, account)
    yield* stopStaleServer(directory)
    const settings = { ...SETTINGS, ...options.settings }
    const port = yield* superviseServers({ directory, binaries, account, settings }, options.port)
    yield* ensureDatabase(password, port, directory)
    return { url: urlOf(password, port), port, log: directory.log }
  })

/**
 * The Postgres of a data directory for one command of an operator. It uses the server that another process of this user
 * runs there, so that the command also works while a service runs. Otherwise it starts a server, which stops with the
 * scope.
 */
export const shareServer = (
  options: EmbeddedOptions
): Effect.Effect<Pick<EmbeddedPostgres, "url">, EmbeddedRefused, Scope.Scope> =>
  Effect.catchIf(
    startServer(options),
    ({ reason }) => reason === "in_use",
    (refused) => {
      const directory = dataDirectory(resolve(options.dataDir))
      return Effect.flatMap(
        tryFiles(directory, () => ({
          port: readyPort(directory),
          password: readFileSync(directory.password, "utf8").trim()
        })),
        ({ port, password }) => (port === undefined ? refused : Effect.succeed({ url: urlOf(password, port) }))
      )
    }
  )

/**
 * Migrates the database of an embedded Postgres. Moves tables that an earlier release created in `public`, because no
 * other program uses this database.
 */
export const migrateEmbedded = (
  url: string,
  options: Pick<PgStore.PgStoreOptions, "schema"> = {}
): Effect.Effect<ReadonlyArray<string>, MigrationError> =>
  Effect.catchTag(migrate(url, options), "TablesElsewhere", (otherTables) =>
    migrate(url, { ...options, moveFrom: otherTables.schema })
  )

const optionChecks = {
  dataDir: (value) => (typeof value === "string" && value !== "" ? undefined : "must be the path of a folder"),
  port: mustBePositive,
  settings: (value) => (isObject(value) ? undefined : "must be an object with settings of postgresql.conf"),
  schema: storeOptions.schema,
  secretsKeys: storeOptions.secretsKeys
} as const satisfies OptionChecks

/** The options of a store on an embedded Postgres. */
export interface EmbeddedStoreOptions extends EmbeddedOptions, Pick<PgStore.PgStoreOptions, "secretsKeys" | "schema"> {}

/** The errors with which the layer fails: Postgres cannot run, a migration failed, or an option is wrong. */
export type EmbeddedStoreError = EmbeddedRefused | MigratedStoreError

/** All store ports, on an embedded Postgres that keeps its data in `dataDir` and stops with the layer. */
export const layer = (options: EmbeddedStoreOptions): Layer.Layer<StorePorts, EmbeddedStoreError, Entropy> =>
  inRealTime(
    Layer.unwrapScoped(
      Effect.gen(function* () {
        yield* requireValidOptions("the embedded store", options, optionChecks)
        const { secretsKeys = [], schema } = options
        yield* requireValidSchema(schema)
        const { url } = yield* startServer(options)
        yield* migrateEmbedded(url, { schema })
        return PgStore.layer({ url, schema, secretsKeys })
      })
    )
  )
