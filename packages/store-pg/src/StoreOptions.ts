import { Effect } from "effect"
import type { CellAddress } from "./cells/CellPlaces.js"
import { databaseUrl } from "./connection/Address.js"
import type { PoolLike } from "./connection/CallersPool.js"
import { DatabaseFailed } from "./connection/DatabaseFailed.js"
import type { Database } from "./connection/Schema.js"
import type { LeaseClock } from "./deliveries/PgDeliveries.js"

/** How the store uses its database, whose schema must be current: see `migrate`. */
export interface PgStoreOptions extends Database {
  /** How many connections run commands at once; two by default. */
  readonly lanes?: number
  /** How many connections read; eight by default. */
  readonly readConnections?: number
  /**
   * Your own `Pool` of the package `pg`, for the same database: commands and reads borrow its clients, one for each of their
   * transactions, instead of opening connections. `url` still serves the few connections that wait for notifications and deliver.
   * You end the pool, after the workshop.
   */
  readonly pool?: PoolLike | undefined
  /**
   * Further cells, as `workshop migrate --cells` made them; the database of `url` is the home cell. All processes of a service are given
   * the same ones. Left out where the home cell is the only one.
   */
  readonly cells?: ReadonlyArray<CellAddress>
  /** The clock by which leases end; the database's own by default. Tests pass theirs. */
  readonly leaseClock?: LeaseClock
  /**
   * Keys that encrypt the secrets of webhooks in the database, each 32 random bytes in base64 or hex. The first one writes, all of
   * them read. Without any, secrets are stored in clear.
   */
  readonly secretsKeys?: ReadonlyArray<string>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const wholeNumber = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number of at least 1"

const listOf = (isOne: (one: unknown) => boolean, what: string) => (value: unknown) =>
  Array.isArray(value) && value.every(isOne) ? undefined : `must be a list of ${what}`

/** The complaint about the value of an option; undefined if it is right, or is checked where it is used. */
const options = {
  url: () => undefined,
  schema: (value) => (typeof value === "string" ? undefined : "must be the name of a schema, such as workshop"),
  lanes: wholeNumber,
  readConnections: wholeNumber,
  pool: () => undefined,
  cells: listOf((one) => isObject(one) && typeof one.name === "string", "cells, each with a name"),
  leaseClock: () => undefined,
  secretsKeys: listOf((one) => typeof one === "string", "keys, each a text")
} as const satisfies Record<keyof PgStoreOptions, (value: unknown) => string | undefined>

const refused = (what: string) => new DatabaseFailed({ reason: "bad_option", code: undefined, what })

const wrong = (given: unknown): DatabaseFailed | undefined => {
  if (!isObject(given)) return refused("Give the store an object of options with a url")
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(options, name))
      return refused(`The store has no option ${name}: its options are ${Object.keys(options).join(", ")}`)
    const complaint = value === undefined ? undefined : options[name as keyof PgStoreOptions](value)
    if (complaint !== undefined) return refused(`The store's option ${name} ${complaint}`)
  }
  return undefined
}

/** Fails with a sentence about the first wrong option, before anything is connected or written. */
export const checkedOptions = (given: PgStoreOptions): Effect.Effect<void, DatabaseFailed> =>
  Effect.suspend(() => wrong(given) ?? Effect.asVoid(databaseUrl(given.url)))
