import { type OptionRefused, refusedOption } from "@workshop/core/store"
import { Config, type ConfigError, Effect, Redacted } from "effect"
import type { PgStoreOptions } from "./StoreOptions.js"

/** The options of a store that come from configuration; secrets are `Redacted`, so that no log shows them. */
export interface PgStoreConfig {
  /** Where the database is, such as `Config.redacted("DATABASE_URL")`. */
  readonly url: Redacted.Redacted
  /** The schema of the tables. */
  readonly schema?: string
  /** How many connections run commands at once. */
  readonly lanes?: number
  /** How many connections read. */
  readonly readConnections?: number
  /** Keys that encrypt the secrets of webhooks. */
  readonly secretsKeys?: ReadonlyArray<Redacted.Redacted>
}

const configLike = (sample: string) => (value: unknown) =>
  Config.isConfig(value) ? undefined : `must be a Config, such as ${sample}; layer takes plain values`

/** The check of each option before it is read. */
export const storeConfig = {
  url: configLike('Config.redacted("DATABASE_URL")'),
  schema: configLike('Config.string("WORKSHOP_SCHEMA")'),
  lanes: configLike('Config.integer("WORKSHOP_LANES")'),
  readConnections: configLike('Config.integer("WORKSHOP_READ_CONNECTIONS")'),
  secretsKeys: configLike('Config.array(Config.redacted(), "WORKSHOP_SECRETS_KEYS")')
} as const satisfies Record<keyof PgStoreConfig, (value: unknown) => string | undefined>

/** The check of each option of a store that migrates, before it is read. */
export const migratedConfig = { ...storeConfig, createSchema: configLike('Config.boolean("WORKSHOP_CREATE_SCHEMA")') }

/** Reads the options of a store; fails with a sentence about the first that is no `Config`, or that does not exist. */
export const optionsFrom = (
  config: Config.Config.Wrap<PgStoreConfig>,
  checks: typeof storeConfig
): Effect.Effect<PgStoreOptions, OptionRefused | ConfigError.ConfigError> =>
  Effect.gen(function* () {
    const refused = Config.isConfig(config) ? null : refusedOption("layerConfig", config, checks)
    if (refused !== null) return yield* refused
    const { url, secretsKeys, ...rest } = yield* Config.unwrap(config)
    return { ...rest, url: Redacted.value(url), ...(secretsKeys && { secretsKeys: secretsKeys.map(Redacted.value) }) }
  })
