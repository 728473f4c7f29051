import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import { Entropy, type OptionRefused, type StorePorts, Transactions } from "@workshop/core"
import {
  AuditLog,
  type Cell,
  CellAccess,
  Closures,
  cellPorts,
  Deliveries,
  DeliveryLog,
  Directory,
  NotificationQueue,
  PersonalData,
  RateLimits,
  Reads,
  SandboxData,
  Store,
  StoreRetention
} from "@workshop/core/store"
import { type Config, type ConfigError, Context, Effect, Layer } from "effect"
import type pg from "pg"
import { optionsFrom, type PgStoreConfig, storeConfig } from "./ConfiguredOptions.js"
import { checkAlone, checkCells, makeConfirm } from "./cells/CellChecks.js"
import { type CellAddress, type CellLocation, HOME_CELL, locateCells } from "./cells/CellLocations.js"
import { cellNodes } from "./cells/CitusNodes.js"
import { pgCellAccess, pgCellDirectory } from "./cells/PgCells.js"
import { joinedTransactions } from "./commands/JoinedTransactions.js"
import { makeTransact } from "./commands/Lane.js"
import { warnIfUnencrypted } from "./connection/Address.js"
import { callersPool, storeDatabaseCheck } from "./connection/CallersPool.js"
import type { makeReconnecting } from "./connection/Connection.js"
import type { DatabaseFailed } from "./connection/DatabaseFailed.js"
import { checkedSchema } from "./connection/Schema.js"
import { PLANNED_EACH_TIME, PLANNED_ONCE } from "./connection/SessionClient.js"
import { sharedSessions } from "./connection/SharedSessions.js"
import * as Sql from "./connection/Sql.js"
import { pgDeliveries } from "./deliveries/PgDeliveries.js"
import { pgDeliveryLog } from "./deliveries/PgDeliveryLog.js"
import { type PgNotifier, pgNotifier } from "./deliveries/PgNotifier.js"
import { pgPersonalData } from "./erasure/PgPersonalData.js"
import { pgRateLimits } from "./limits/PgRateLimits.js"
import { pgProbe } from "./observe/PgProbe.js"
import { inRealTime } from "./RealTime.js"
import { pgAuditLog } from "./reads/PgAuditLog.js"
import { pgClosures } from "./reads/PgClosures.js"
import { pgDirectory } from "./reads/PgDirectory.js"
import { pgNotificationQueue } from "./reads/PgNotificationQueue.js"
import { pgReads } from "./reads/PgReads.js"
import { pgSandboxData } from "./reads/PgSandboxData.js"
import { type RetentionOptions, worker } from "./retention/Retention.js"
import { type PgStoreOptions, requireValidStoreOptions } from "./StoreOptions.js"
import { secretsGuard } from "./secrets/SecretsGuard.js"
import { type SecretsRefused, WebhookSecrets } from "./secrets/WebhookSecrets.js"

export type { PgStoreConfig } from "./ConfiguredOptions.js"
export type { PgStoreOptions } from "./StoreOptions.js"

/*
 * Builds the layers of this store. `layer` checks the options and chooses between two forms: `singleStore`, one schema
 * of one database, and `cellStore`, several cells, each in its own schema. `ports` makes the ports of one schema: the
 * commands (`makeTransact`, Lane.ts), the reads, the deliveries and the rest. `singleStore` calls it once. `cellStore`
 * calls it for each cell with `SharedResources`, so that all cells of one address use the same connections and
 * notifier; `cellPorts` of core then combines the cells into one store, which finds the cell of a shop in the directory
 * of the home cell.
 */

/**
 * The connections and the notifier that cells share, and the name of the cell. By default the ports open their own
 * connections.
 */
interface SharedResources {
  readonly makeConnection?: typeof makeReconnecting | undefined
  /** Opens the connections for commands. */
  readonly commandsConnecting?: typeof makeReconnecting | undefined
  readonly notifier?: PgNotifier
  /** Whether Citus currently distributes the schema. */
  readonly isDistributed?: () => boolean
  /** The name of the cell, if there are several. */
  readonly cell?: string
}

const ports = (
  { url, schema: givenSchema, lanes = 2, leaseClock = "database", secretsKeys }: PgStoreOptions,
  {
    makeConnection,
    commandsConnecting: makeCommandConnection = makeConnection,
    notifier: shared,
    cell,
    isDistributed
  }: SharedResources
) =>
  Effect.gen(function* () {
    const schema = yield* checkedSchema(givenSchema)
    const database = { url, schema }
    const secrets = yield* WebhookSecrets.of(secretsKeys)
    const entropy = yield* Entropy
    const checkSecrets = yield* secretsGuard(secrets, schema)
    yield* pgProbe(schema, cell)
    const notifier = shared ?? (yield* pgNotifier(database, nodeName(entropy)))
    const transact = yield* makeTransact(
      {
        ...database,
        lanes,
        cell,
        makeConnection: makeCommandConnection,
        secrets,
        onCommit: ({ changes }) => {
          if (changes.wakesDispatchers) notifier.notifyDue()
          if (changes.changedShops.size > 0) notifier.notifyShops(changes.changedShops)
        }
      },
      entropy
    )
    const isStoreDatabase = storeDatabaseCheck(database)
    const { transactions, wrapTransact } = yield* joinedTransactions({
      schema,
      isStoreDatabase,
      secrets,
      notifier,
      entropy
    })
    const deliveries = yield* pgDeliveries({
      ...database,
      leaseClock,
      notifier,
      secrets,
      checkSecrets,
      makeConnection,
      isDistributed
    })
    return Context.make(Store, { transact: wrapTransact(transact) }).pipe(
      Context.add(Transactions, transactions),
      Context.add(Reads, yield* pgReads(secrets)),
      Context.add(AuditLog, yield* pgAuditLog),
      Context.add(PersonalData, yield* pgPersonalData),
      Context.add(Directory, { ...(yield* pgDirectory), changedShops: notifier.shops }),
      Context.add(Closures, yield* pgClosures),
      Context.add(Deliveries, deliveries),
      Context.add(DeliveryLog, yield* pgDeliveryLog),
      Context.add(NotificationQueue, yield* pgNotificationQueue),
      Context.add(RateLimits, yield* pgRateLimits(database, makeConnection)),
      Context.add(CellAccess, yield* pgCellAccess(deliveries)),
      Context.add(SandboxData, yield* pgSandboxData(secrets)),
      Context.add(StoreRetention, retentionOf(database))
    )
  })

/** The ports, the SQL client and the directory of one cell, on shared connections. */
const makeCell = (
  options: PgStoreOptions,
  location: CellLocation,
  currentPool: () => pg.Pool,
  shared: SharedResources
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const cellOptions = { ...options, url: location.url, schema: location.schema }
    const cell: Cell = { name: location.name, ports: yield* ports(cellOptions, { ...shared, cell: location.name }) }
    return { cell, sql, directory: yield* pgCellDirectory }
  }).pipe(Effect.provide(Layer.provide(Sql.readsOn(currentPool, location), Reactivity.layer)))

/** Several cells, with the directory in the home cell. Cells of one address share connections. */
const cellStore = (options: PgStoreOptions, furtherCells: ReadonlyArray<CellAddress>) =>
  Effect.gen(function* () {
    const entropy = yield* Entropy
    const locations = yield* locateCells(options, furtherCells)
    const shareConnection = yield* sharedSessions
    const notifiers = new Map<string, PgNotifier>()
    for (const { url, schema } of locations) {
      if (notifiers.has(url)) continue
      yield* warnIfUnencrypted(url)
      notifiers.set(url, yield* pgNotifier({ url, schema }, nodeName(entropy)))
    }
    const nodes = yield* cellNodes(locations, options.readConnections ?? READ_CONNECTIONS)
    const open = yield* Effect.forEach(locations, (location) => {
      const { schema } = location
      const planSettings = () => (nodes.isDistributed(schema) ? PLANNED_EACH_TIME : PLANNED_ONCE)
      const makeConnection = shareConnection({
        schema,
        plans: planSettings,
        url: Effect.sync(() => nodes.urlOf(location))
      })
      const openCell = makeCell(options, location, () => nodes.poolOf(location), {
        makeConnection,
        isDistributed: () => nodes.isDistributed(schema),
        notifier: notifiers.get(location.url)!
      })
      return location.name === HOME_CELL ? Effect.tap(openCell, ({ sql }) => nodes.followNodes(sql)) : openCell
    })
    const [home, ...others] = open
    const unavailable = yield* checkCells(
      open.map(({ cell, sql }, i) => ({ name: cell.name, schema: locations[i]!.schema, sql }))
    )
    const confirm = makeConfirm(home!.sql)
    const confirmCell = ({ cell: { name, ports }, sql }: (typeof open)[number]): Cell => {
      const access = { ...Context.get(ports, CellAccess), confirm: confirm({ name, sql }) }
      return { name, ports: Context.add(ports, CellAccess, access) }
    }
    const composedPorts = yield* cellPorts({
      cells: [confirmCell(home!), ...others.map(confirmCell)],
      directory: home!.directory,
      unavailable
    })
    return Context.add(
      composedPorts,
      StoreRetention,
      retentionOf({ url: options.url, schema: options.schema, cells: furtherCells })
    )
  })

const retentionOf = (where: RetentionOptions) => (keepEventsMs?: number) =>
  worker({ ...where, ...(keepEventsMs !== undefined && { keepEventsMs }) })

const READ_CONNECTIONS = 8

/** A random name of this process, by which it recognizes its own notifications. */
const nodeName = ({ bytes }: Context.Tag.Service<Entropy>): string =>
  Array.from(bytes(8), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** A store of one schema, whose reads use the caller's pool if there is one. */
const singleStore = (options: PgStoreOptions) =>
  Effect.gen(function* () {
    const { url, pool: givenPool, schema, readConnections = READ_CONNECTIONS } = options
    const pool = givenPool && (yield* callersPool(givenPool, { url, schema: yield* checkedSchema(schema) }))
    if (pool !== undefined) yield* pool.checkDatabase
    yield* warnIfUnencrypted(url)
    const own = Effect.map(Sql.readPool({ url, connections: readConnections }), (readPool) =>
      Sql.readsOn(() => readPool, { schema })
    )
    const singleStoreContext = Effect.gen(function* () {
      yield* checkAlone(yield* SqlClient)
      return Context.omit(CellAccess)(yield* ports(options, { commandsConnecting: pool?.reconnecting }))
    })
    const reads = Layer.provide(pool?.reads ?? Layer.unwrapScoped(own), Reactivity.layer)
    return Layer.provide(Layer.scopedContext(singleStoreContext), reads)
  })

/** The errors with which the layer of the store fails: an option, the database or a key is wrong. */
export type PgStoreError = OptionRefused | DatabaseFailed | SecretsRefused

/**
 * All store ports, on Postgres 15 or newer, for any number of processes. Commands that arrive together share a
 * transaction. A connection, including one of your `pool`, is opened when it is needed, and again after it broke; while
 * none can be opened, the ports fail with `StoreUnavailable`. The layer fails with `OptionRefused` if an option is
 * wrong, and with `SecretsRefused` if none of `secretsKeys` decrypts a webhook secret of the database.
 */
export const layer = (options: PgStoreOptions): Layer.Layer<StorePorts, PgStoreError, Entropy> => {
  const store = Effect.suspend(() => {
    const { cells = [] } = options
    return cells.length === 0 ? singleStore(options) : Effect.succeed(Layer.scopedContext(cellStore(options, cells)))
  })
  return inRealTime(Layer.unwrapScoped(Effect.zipRight(requireValidStoreOptions(options), store)))
}

/** Like {@link layer}, from configuration: `layerConfig({ url: Config.redacted("DATABASE_URL") })`. */
export const layerConfig = (
  config: Config.Config.Wrap<PgStoreConfig>
): Layer.Layer<StorePorts, PgStoreError | ConfigError.ConfigError, Entropy> =>
  Layer.unwrapEffect(Effect.map(optionsFrom(config, storeConfig), layer))
