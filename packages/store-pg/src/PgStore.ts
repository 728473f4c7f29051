import * as Reactivity from "@effect/experimental/Reactivity"
import { Entropy, type StorePorts, Tidying, Transactions } from "@workshop/core"
import {
  AuditLog,
  Closures,
  Deliveries,
  DeliveryLog,
  Directory,
  Messages,
  PersonalData,
  RateLimits,
  Reads,
  Store,
  WholeData
} from "@workshop/core/store"
import { Context, Effect, Layer } from "effect"
import { databaseUrl, warnOfClearText } from "./Address.js"
import { type CallersPool, callersPool, type PoolLike } from "./CallersPool.js"
import { transact } from "./CommitQueue.js"
import { joinedTransactions } from "./JoinedTransactions.js"
import type { DatabaseFailed } from "./migrate/DatabaseFailed.js"
import { type LeaseClock, pgDeliveries } from "./PgDeliveries.js"
import { pgDeliveryLog } from "./PgDeliveryLog.js"
import { pgAuditLog, pgClosures, pgDirectory, pgMessages } from "./PgDirectory.js"
import { pgNotifier } from "./PgNotifier.js"
import { pgPersonalData } from "./PgPersonalData.js"
import { pgProbe } from "./PgProbe.js"
import { pgRateLimits } from "./PgRateLimits.js"
import { pgReads } from "./PgReads.js"
import { pgWholeData } from "./PgWholeData.js"
import { tidier } from "./retention/Retention.js"
import { checkedSchema, type Database } from "./Schema.js"
import { secretsGuard } from "./SecretsGuard.js"
import * as Sql from "./Sql.js"
import { type SecretsRefused, WebhookSecrets } from "./WebhookSecrets.js"

/** How the store uses its database, whose schema must be current: see `migrate`. */
export interface PgStoreOptions extends Database {
  /** How many connections run commands at once; two, unless told otherwise. */
  readonly lanes?: number
  /** How many connections read; eight, unless told otherwise. */
  readonly readConnections?: number
  /**
   * Your own `Pool` of the package `pg`, for the same database: commands and reads borrow its clients, one for each of their
   * transactions, instead of opening connections. `url` still serves the few connections that wait for notifications and deliver.
   * You end the pool, after the workshop.
   */
  readonly pool?: PoolLike | undefined
  /** On which clock leases are counted; the database's own, unless told otherwise. Tests give theirs. */
  readonly leaseClock?: LeaseClock
  /**
   * Keys that encrypt the secrets of webhooks in the database, each 32 random bytes in base64 or hex. The first one writes, all of
   * them read. Without any, secrets are stored in clear.
   */
  readonly secretsKeys?: ReadonlyArray<string>
}

const ports = (
  { url, schema: given, lanes = 2, leaseClock = "database", secretsKeys }: PgStoreOptions,
  pool: CallersPool | undefined
) =>
  Effect.gen(function* () {
    const schema = yield* checkedSchema(given)
    const database = { url, schema }
    yield* warnOfClearText(url)
    const secrets = yield* WebhookSecrets.of(secretsKeys)
    const entropy = yield* Entropy
    const node = Array.from(entropy.bytes(8), (byte) => byte.toString(16).padStart(2, "0")).join("")
    const guard = yield* secretsGuard(secrets)
    yield* pgProbe(schema)
    const notifier = yield* pgNotifier(database, node)
    const run = yield* transact(
      {
        ...database,
        lanes,
        connecting: pool?.reconnecting,
        secrets,
        onCommit: ({ changes }) => {
          if (changes.wakesDispatchers) notifier.notifyDue()
          if (changes.changedShops.size > 0) notifier.notifyShops(changes.changedShops)
        }
      },
      entropy
    )
    const { transactions, joining } = yield* joinedTransactions({ schema, secrets, notifier, entropy })
    return Context.make(Store, { transact: joining(run) }).pipe(
      Context.add(Transactions, transactions),
      Context.add(Reads, yield* pgReads(secrets)),
      Context.add(AuditLog, yield* pgAuditLog),
      Context.add(PersonalData, yield* pgPersonalData),
      Context.add(Directory, { ...(yield* pgDirectory), news: notifier.shops }),
      Context.add(Closures, yield* pgClosures),
      Context.add(Deliveries, yield* pgDeliveries(database, leaseClock, notifier, { secrets, guard })),
      Context.add(DeliveryLog, yield* pgDeliveryLog),
      Context.add(Messages, yield* pgMessages),
      Context.add(RateLimits, yield* pgRateLimits(database)),
      Context.add(WholeData, yield* pgWholeData(secrets)),
      Context.add(Tidying, (keepEvents_ms?: number) =>
        tidier({ ...database, ...(keepEvents_ms !== undefined && { keepEvents_ms }) })
      )
    )
  })

/**
 * Every store port, on Postgres 15 or newer: durable, and for any number of processes at once. Commands of one moment share
 * a transaction. Connections are made when they are needed, and again after they broke: meanwhile the ports answer
 * `StoreUnavailable`. A `url` that does not read like one fails at once, and so does a database with webhook secrets that none of
 * `secretsKeys` opens.
 */
export const layer = (options: PgStoreOptions): Layer.Layer<StorePorts, DatabaseFailed | SecretsRefused, Entropy> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { url, pool: given, schema, readConnections = 8 } = options
      yield* databaseUrl(url)
      const pool = given && (yield* callersPool(given, { url, schema: yield* checkedSchema(schema) }))
      if (pool !== undefined) yield* pool.checked
      const reads = pool?.reads ?? Layer.orDie(Sql.layer({ url, schema, connections: readConnections }))
      return Layer.provide(Layer.scopedContext(ports(options, pool)), Layer.provide(reads, Reactivity.layer))
    })
  )
