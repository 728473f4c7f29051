import type { Entropy, StorePorts } from "@workshop/core"
import { type Config, type ConfigError, Effect, Layer } from "effect"
import { migratedConfig, optionsFrom, type PgStoreConfig } from "./ConfiguredOptions.js"
import { migrate } from "./cells/CellMigrations.js"
import { parseAddress } from "./connection/Address.js"
import { callersPool } from "./connection/CallersPool.js"
import { checkedSchema, DEFAULT_SCHEMA } from "./connection/Schema.js"
import type { MigrationError } from "./migrate/MigrationError.js"
import * as PgStore from "./PgStore.js"
import { inRealTime } from "./RealTime.js"
import { type MigratedStoreOptions, migratedOptions, requireValidStoreOptions } from "./StoreOptions.js"

export type { MigratedStoreOptions } from "./StoreOptions.js"

/** Refuses a pool that connects to a different database, before the migration writes to the database of the url. */
const checkPool = ({ url, schema, pool }: PgStore.PgStoreOptions) =>
  pool === undefined
    ? Effect.void
    : Effect.flatMap(checkedSchema(schema), (checked) =>
        Effect.flatMap(callersPool(pool, { url, schema: checked }), ({ checkDatabase }) => checkDatabase)
      )

const migratedMessage = (migrations: number, { url, schema = DEFAULT_SCHEMA }: PgStore.PgStoreOptions): string => {
  const { database } = parseAddress(url)
  return `Applied ${migrations} ${migrations === 1 ? "migration" : "migrations"} to the schema ${schema}${database && ` of the database ${database}`}`
}

/** The errors with which the layer fails: those of a migration, and those of the store itself. */
export type MigratedStoreError = MigrationError | PgStore.PgStoreError

/**
 * All store ports on a database that is first migrated to this program's schema, for programs without a deployment step for it. The role must
 * be allowed to create tables. Fails if the schema is too new or the database is unavailable, and with `createSchema: false` if the schema
 * has no tables.
 */
export const layer = (options: MigratedStoreOptions): Layer.Layer<StorePorts, MigratedStoreError, Entropy> =>
  inRealTime(
    Layer.unwrapScoped(
      Effect.gen(function* () {
        yield* requireValidStoreOptions(options, migratedOptions)
        const { createSchema, ...store } = options
        yield* checkPool(store)
        const applied = yield* migrate(store.url, { ...store, createSchema })
        if (applied.length > 0) yield* Effect.logInfo(migratedMessage(applied.length, store))
        return PgStore.layer(store)
      })
    )
  )

/** The options of a store that migrates, from configuration. */
export interface MigratedStoreConfig extends PgStoreConfig {
  /** False refuses a schema without tables; true by default. */
  readonly createSchema?: boolean
}

/** Like {@link layer}, from configuration: `layerConfig({ url: Config.redacted("DATABASE_URL") })`. */
export const layerConfig = (
  config: Config.Config.Wrap<MigratedStoreConfig>
): Layer.Layer<StorePorts, MigratedStoreError | ConfigError.ConfigError, Entropy> =>
  Layer.unwrapEffect(Effect.map(optionsFrom(config, migratedConfig), layer))
