import { OptionRefused } from "@workshop/core"
import {
  acceptAny,
  findOptionRefusal,
  isObject,
  mustBeBoolean,
  mustBePositive,
  type OptionChecks
} from "@workshop/core/internal"
import { Effect } from "effect"
import type { CellAddress } from "./cells/CellLocations.js"
import { databaseUrl } from "./connection/Address.js"
import type { PoolLike } from "./connection/CallersPool.js"
import type { DatabaseFailed } from "./connection/DatabaseFailed.js"
import { checkedSchema, type Database } from "./connection/Schema.js"
import type { LeaseClock } from "./deliveries/PgDeliveries.js"

/** The options of the store. The schema of its database must be current; see `migrate`. */
export interface PgStoreOptions extends Database {
  /** The number of lanes, which are queues that commit commands at the same time, each on one connection; two by default. */
  readonly lanes?: number
  /** The number of connections for reads; eight by default. */
  readonly readConnections?: number
  /**
   * Your own `Pool` of the package `pg`, for the same database. Commands and reads borrow its clients, one for each
   * transaction, instead of opening connections. The store still opens a few connections to `url`, for notifications,
   * deliveries and rate limits. Until it stops, the workshop listens to the pool's `error`, so that the end of an idle
   * connection does not end the process. You end the pool, after the workshop.
   */
  readonly pool?: PoolLike | undefined
  /**
   * Further cells, which `workshop migrate --cells` created; the database of `url` is the home cell. All processes of a service need the same
   * cells. None by default.
   */
  readonly cells?: ReadonlyArray<CellAddress>
  /** The clock by which leases expire; by default the database's clock. Tests pass a virtual clock. */
  readonly leaseClock?: LeaseClock
  /**
   * Keys that encrypt the secrets of webhooks in the database, each 32 random bytes in base64 or hex. The first key encrypts, all keys
   * decrypt. Without keys, secrets are stored unencrypted.
   */
  readonly secretsKeys?: ReadonlyArray<string>
}

/** The options of a store that migrates its database when it starts. */
export interface MigratedStoreOptions extends PgStoreOptions {
  /**
   * If false, the store refuses to start on a schema without the workshop's tables, so that a misspelt name does not
   * start without data; true by default. Further cells are created in either case.
   */
  readonly createSchema?: boolean | undefined
}

const listOf = (isOne: (item: unknown) => boolean, what: string) => (value: unknown) =>
  Array.isArray(value) && value.every(isOne) ? undefined : `must be a list of ${what}`

/** The check of each option, except the url, which is checked when it is parsed. */
export const storeOptions = {
  url: acceptAny,
  schema: (value) => (typeof value === "string" ? undefined : "must be the name of a schema, such as workshop"),
  lanes: mustBePositive,
  readConnections: mustBePositive,
  pool: (value) =>
    isObject(value) && typeof value.connect === "function"
      ? undefined
      : "must be a Pool of the package pg that connects to the same database as the url",
  cells: listOf((cell) => isObject(cell) && typeof cell.name === "string", "cells, each of which has a name"),
  leaseClock: acceptAny,
  secretsKeys: listOf((key) => typeof key === "string", "keys, each of which is a string")
} as const satisfies Record<keyof PgStoreOptions, (value: unknown) => string | undefined>

/** The check of each option of a store that migrates. */
export const migratedOptions = {
  ...storeOptions,
  createSchema: mustBeBoolean
} as const satisfies Record<keyof MigratedStoreOptions, (value: unknown) => string | undefined>

/** Fails with a sentence about the first wrong option of a store of this package. */
export const requireValidOptions = (
  whose: string,
  options: unknown,
  checks: OptionChecks
): Effect.Effect<void, OptionRefused> =>
  Effect.suspend(() => {
    const refused = findOptionRefusal(whose, options, checks)
    return refused === null ? Effect.void : refused
  })

const toOptionRefused = (option: keyof PgStoreOptions) => (failed: DatabaseFailed) =>
  new OptionRefused({ option, message: failed.message })

/** Fails if an option is not a valid name of a schema. */
export const requireValidSchema = (schema: string | undefined): Effect.Effect<string, OptionRefused> =>
  Effect.mapError(checkedSchema(schema), toOptionRefused("schema"))

/**
 * Fails with a sentence about the first wrong option, before the store connects. A `DatabaseFailed` therefore always
 * comes from the database or the connection to it.
 */
export const requireValidStoreOptions = (
  options: PgStoreOptions,
  checks: OptionChecks = storeOptions
): Effect.Effect<void, OptionRefused> =>
  Effect.gen(function* () {
    yield* requireValidOptions("the store", options, checks)
    yield* Effect.mapError(databaseUrl(options.url), toOptionRefused("url"))
    yield* requireValidSchema(options.schema)
  })
