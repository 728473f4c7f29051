import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { Entropy, type StorePorts } from "@workshop/core"
import type { EmbeddedRefusal } from "@workshop/store-pg/embedded"
import type { DatabaseFailure, MigrateOptions } from "@workshop/store-pg/migrate"
import { Effect, Layer, type Scope } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"
import { optionalFlag, repeatableFlag, toggleFlag, valueFlag } from "../terminal/commands.js"

/** The kinds of stores. */
export const STORES = ["memory", "embedded", "postgres"] as const

/** `--database-url`: the database of the command. Its variable is `DATABASE_URL`, because hosting providers set it. */
export const databaseUrlFlag = (description: string) =>
  optionalFlag("--database-url <url>", description, { variable: "DATABASE_URL" })

/** `--schema`: the schema of the tables in the database. */
export const schemaFlag = optionalFlag(
  "--schema <name>",
  "The database schema that contains the service's tables. The default is workshop."
)

/** `--cells`: the cells of the service other than the home cell, which is the database itself. */
export const cellsFlag = optionalFlag(
  "--cells <cells>",
  "The cells that the shops are divided among. Give a number, which makes each cell a schema of this database, or the cells' names and addresses separated by spaces (north=postgres://…)."
)

/** The flags that name a database: its address, its schema and its cells. */
export const databaseAddressFlags = (description: string) => ({
  databaseUrl: databaseUrlFlag(description),
  schema: schemaFlag,
  cells: cellsFlag
})

/** The default folder of the embedded Postgres. */
export const DEFAULT_FOLDER = ".workshop"

/** `--data-dir`: the folder of the embedded Postgres. */
export const dataDirFlag = (description: string) =>
  valueFlag("--data-dir <folder>", description, { fallback: DEFAULT_FOLDER }).conflicts("databaseUrl")

/** `--data-dir` of the commands that work on the data of `workshop serve`. */
export const servedDataDir = dataDirFlag("The folder of the embedded Postgres.")

/** `--secrets-key`: the keys of `WORKSHOP_SECRETS_KEY`. The store checks them, and its refusal does not repeat them. */
export const secretsKeyFlag = repeatableFlag(
  "--secrets-key <key>",
  "Keys that encrypt the webhook secrets in the database, separated by commas. Each is 32 random bytes in base64 or hex. The first key encrypts, and every key can decrypt."
)

/** The flag `--no-migrate`, which `serve` and `dispatch` share. */
export const noMigrateFlag = toggleFlag("no-migrate", "Refuse a database with an older schema instead of migrating it.")

/** The chosen store and the location of its data. */
export interface StoreChoice {
  readonly store: (typeof STORES)[number]
  /** The database's URL, if the store is `postgres`. */
  readonly databaseUrl: string | null
  /** The schema of the tables in a database; by default the store's. */
  readonly schema?: string | undefined
  /** The value of `--cells`; by default the database is the only cell. */
  readonly cells?: string | undefined
  /** The folder of the embedded Postgres. */
  readonly dataDir: string
  /** True if an older schema is migrated; otherwise it is refused (Specification, Commands). */
  readonly migrate: boolean
  /** The keys of webhook secrets in a database. */
  readonly secretsKeys?: ReadonlyArray<string>
  /** True if the command may use the embedded Postgres that a running `workshop serve` has started in the folder. */
  readonly isShared?: boolean
  /** The time for which events are kept; by default this process removes none. */
  readonly keepEventsMs?: number
}

/** The store that the flags choose. Without a choice, a named database is used (Specification, Commands). */
export const choiceOf = (flags: {
  readonly store?: (typeof STORES)[number] | null
  readonly databaseUrl: string | null
  readonly schema: string | null
  readonly cells?: string | null
  readonly dataDir: string
  readonly noMigrate: boolean
  readonly secretsKey?: ReadonlyArray<string>
}): StoreChoice => ({
  store: flags.store ?? (flags.databaseUrl === null ? "embedded" : "postgres"),
  databaseUrl: flags.databaseUrl,
  schema: flags.schema ?? undefined,
  cells: flags.cells ?? undefined,
  dataDir: flags.dataDir,
  migrate: !flags.noMigrate,
  secretsKeys: flags.secretsKey ?? []
})

const ANOTHER_STORE = "Use --store memory, or give the address of a Postgres with --database-url"

/** The advice for the refusals of the stores, with the names of the flags in place of the options. */
const remedies: Readonly<
  Record<EmbeddedRefusal | "no_schema" | Exclude<DatabaseFailure, "statement" | "wrong_cell" | "bad_pool">, string>
> = {
  no_binaries: ANOTHER_STORE,
  in_use: "Stop that process, or choose another folder with --data-dir",
  other_owner: "Run the command as the user who created it, or choose another folder with --data-dir",
  other_version: "Dump the data with the release that wrote them, and load the dump into a new --data-dir",
  failed: `Choose another --data-dir. ${ANOTHER_STORE}`,
  bad_schema: "Check --schema",
  no_schema: "Check --schema and --database-url, or omit --no-create-schema to start in that schema without data",
  bad_cells: "Give every command the same --cells as workshop migrate",
  no_url: "Check --database-url, or DATABASE_URL",
  unreachable: "Check that the database server is running, and that --database-url has its address",
  no_database: "Create the database, or correct its name in --database-url",
  no_entry: "Check the user and the password in --database-url, and that the user exists as a role on the server",
  untrusted:
    "In --database-url, check sslmode, and that sslrootcert is the authority that signed the server's certificate. With sslmode=verify-full, the certificate must also name the host that the address names"
}

/** Converts the refusal of a store to a refusal of a command, whose advice names flags. */
export const storeRefusal = (refusal: {
  readonly message: string
  readonly reason?: string
  readonly what?: string
}): CommandRefused => {
  const { message, reason = "", what = message } = refusal
  const remedy = (remedies as Readonly<Record<string, string>>)[reason]
  return refuse(remedy === undefined ? message : `${what}. ${remedy}.`)
}

const memoryLayer = Layer.unwrapEffect(
  Effect.map(
    Effect.promise(() => import("@workshop/store-memory")),
    (MemoryStore) => Layer.provide(MemoryStore.layer, Entropy.layer)
  )
)

/**
 * Migrates a database. In an embedded database, the tables of an earlier release are moved as well, because no other
 * program uses it.
 */
export const migrateDatabase = (
  store: StoreChoice["store"],
  url: string,
  options: MigrateOptions
): Effect.Effect<ReadonlyArray<string>, CommandRefused> =>
  Effect.gen(function* () {
    const { migrate } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
    if (store !== "embedded" || options.moveFrom !== undefined) return yield* migrate(url, options)
    const embedded = yield* Effect.promise(() => import("@workshop/store-pg/embedded"))
    return yield* embedded.migrateEmbedded(url, options)
  }).pipe(Effect.mapError(storeRefusal))

/** The store on a database. Its schema is migrated first, or refused if it is not current. */
const databaseStoreLayer = (url: string, choice: StoreChoice) =>
  Effect.gen(function* () {
    const { store: kind, schema, migrate, keepEventsMs, secretsKeys = [] } = choice
    const Migrator = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
    // Only `workshop migrate` creates and migrates several cells, because a misspelt name must be refused and not
    // become a new cell.
    if (migrate && choice.cells === undefined) yield* migrateDatabase(kind, url, { schema })
    else yield* Effect.mapError(Migrator.checkSchema(url, { schema }), storeRefusal)
    const { parseCells, PgStore, Retention } = yield* Effect.promise(() => import("@workshop/store-pg"))
    const cells = yield* Effect.mapError(parseCells(choice.cells ?? ""), storeRefusal)
    const store = Layer.mapError(
      Layer.provide(PgStore.layer({ url, schema, cells, secretsKeys }), Entropy.layer),
      storeRefusal
    )
    if (keepEventsMs === undefined) return store
    return Layer.merge(store, Retention.layer({ url, schema, cells, keepEventsMs }))
  })

/** The address of the chosen database; the embedded one runs until the scope closes. */
export const databaseUrlOf = (choice: StoreChoice): Effect.Effect<string, CommandRefused, Scope.Scope> =>
  Effect.gen(function* () {
    const { store, databaseUrl, dataDir, isShared = false } = choice
    if (store === "postgres")
      return databaseUrl ?? (yield* refuse("--store postgres needs a database. Give its address with --database-url."))
    const EmbeddedPostgres = yield* Effect.promise(() => import("@workshop/store-pg/embedded"))
    if (isShared && !existsSync(dataDir))
      return yield* refuse(
        `There is no data in ${resolve(dataDir)}. Give the folder of the data with --data-dir, or create data with workshop serve.`
      )
    const run = isShared ? EmbeddedPostgres.shareServer : EmbeddedPostgres.startServer
    return (yield* Effect.mapError(run({ dataDir }), storeRefusal)).url
  })

/** The chosen store. The modules of a store are loaded when it starts. */
export const storeLayer = (choice: StoreChoice): Layer.Layer<StorePorts, CommandRefused> =>
  choice.store === "memory"
    ? memoryLayer
    : Layer.unwrapScoped(Effect.flatMap(databaseUrlOf(choice), (url) => databaseStoreLayer(url, choice)))
