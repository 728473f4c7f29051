import type { OptionRefused } from "@workshop/core"
import { findOptionRefusal } from "@workshop/core/internal"
import { Config, type ConfigError, Effect, Redacted } from "effect"
import type { PgStoreOptions } from "./StoreOptions.js"

/** The options of a store that can come from configuration. Secrets are `Redacted`, so that no log shows them. */
export interface PgStoreConfig {
  /** The url of the database, such as `Config.redacted("DATABASE_URL")`. */
  readonly url: Redacted.Redacted
  /** The schema of the tables. */
  readonly schema?: string
  /** The number of lanes; see {@link PgStoreOptions.lanes}. */
  readonly lanes?: number
  /** The number of connections for reads. */
  readonly readConnections?: number
  /** Keys that encrypt the secrets of webhooks. */
  readonly secretsKeys?: ReadonlyArray<Redacted.Redacted>
}

interface Kind {
  readonly is: (value: unknown) => boolean
  /** A Config that reads a value of this kind, for error messages. */
  readonly sample: string
}

const isOfType = (type: "string" | "number" | "boolean") => (value: unknown) => typeof value === type

const KINDS = {
  url: { is: Redacted.isRedacted, sample: 'Config.redacted("DATABASE_URL")' },
  schema: { is: isOfType("string"), sample: 'Config.string("WORKSHOP_SCHEMA")' },
  lanes: { is: isOfType("number"), sample: 'Config.integer("WORKSHOP_LANES")' },
  readConnections: { is: isOfType("number"), sample: 'Config.integer("WORKSHOP_READ_CONNECTIONS")' },
  secretsKeys: {
    is: (value) => Array.isArray(value) && value.every(Redacted.isRedacted),
    sample: 'Config.array(Config.redacted(), "WORKSHOP_SECRETS_KEYS")'
  },
  createSchema: { is: isOfType("boolean"), sample: 'Config.boolean("WORKSHOP_CREATE_SCHEMA")' }
} as const satisfies Record<keyof PgStoreConfig | "createSchema", Kind>

const configOr =
  ({ sample }: Kind) =>
  (value: unknown) =>
    Config.isConfig(value) ? undefined : `must be a Config, such as ${sample}; use layer for plain values`

/** The check of each option before its Config is read. */
export const storeConfig = {
  url: configOr(KINDS.url),
  schema: configOr(KINDS.schema),
  lanes: configOr(KINDS.lanes),
  readConnections: configOr(KINDS.readConnections),
  secretsKeys: configOr(KINDS.secretsKeys)
} as const satisfies Record<keyof PgStoreConfig, (value: unknown) => string | undefined>

/** The check of each option of a store that migrates, before its Config is read. */
export const migratedConfig = { ...storeConfig, createSchema: configOr(KINDS.createSchema) }

const configReader =
  ({ is, sample }: Kind) =>
  (value: unknown) =>
    is(value) ? undefined : `has a value of the wrong type; use another Config, such as ${sample}`

/** The check of each option's value, because in a program without types a Config may return a value of another type. */
const readOptions = Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, configReader(kind)]))

/**
 * Reads the options of a store. Fails with a sentence about the first option that is unknown, not a `Config`, or of the
 * wrong type.
 */
export const optionsFrom = (
  config: Config.Config.Wrap<PgStoreConfig>,
  checks: typeof storeConfig
): Effect.Effect<PgStoreOptions, OptionRefused | ConfigError.ConfigError> =>
  Effect.gen(function* () {
    const refused = Config.isConfig(config) ? null : findOptionRefusal("layerConfig", config, checks)
    if (refused !== null) return yield* refused
    const read = yield* Config.unwrap(config)
    const wrong = findOptionRefusal("layerConfig", read, readOptions)
    if (wrong !== null) return yield* wrong
    const { url, secretsKeys, ...rest } = read
    return { ...rest, url: Redacted.value(url), ...(secretsKeys && { secretsKeys: secretsKeys.map(Redacted.value) }) }
  })
