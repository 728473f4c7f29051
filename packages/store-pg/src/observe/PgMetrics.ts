import { probe } from "@workshop/core"
import { Effect, Metric, MetricBoundaries } from "effect"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

/** The number of commands in each committed transaction. */
export const batchCommands = Metric.histogram(
  "workshop_store_batch_commands",
  MetricBoundaries.fromIterable([1, 2, 4, 8, 16, 32, 64, 128]),
  "Number of commands per database transaction."
)

const waiting = gauge("workshop_store_waiting_commands", "Commands that wait to run, by lane.")

/** Exports the number of commands that wait in a lane. */
export const showWaiting = (lane: string, n: number): Effect.Effect<void> =>
  Metric.set(Metric.tagged(waiting, "lane", lane), n)

/**
 * Counts commands that were refused because they waited too long in a queue or for a lock, including commands in an
 * embedder's transaction.
 */
export const expiredCommands = Metric.counter("workshop_store_expired_commands_total", {
  description: "Commands that were refused because they waited too long for their turn or for a lock.",
  incremental: true
})

const pool = gauge("workshop_pg_pool_connections", "Database connections in the pool for reads, by state.")
const poolWaiting = gauge("workshop_pg_pool_waiting", "Reads that wait for a connection from the pool.")

interface PoolCounts {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}

/** The open pools for reads of this process, one for each address of the database and its cells. */
const pools = new Set<PoolCounts>()

const showPools = Effect.suspend(() => {
  const sum = (count: keyof PoolCounts) => [...pools].reduce((total, counts) => total + counts[count], 0)
  return Effect.all(
    [
      Metric.set(Metric.tagged(pool, "state", "total"), sum("totalCount")),
      Metric.set(Metric.tagged(pool, "state", "idle"), sum("idleCount")),
      Metric.set(poolWaiting, sum("waitingCount"))
    ],
    { discard: true }
  )
})

/** Counts a pool for reads in the gauges of this process until the scope closes. */
export const countPool = (counts: PoolCounts) =>
  Effect.acquireRelease(
    Effect.sync(() => pools.add(counts)),
    () => Effect.sync(() => pools.delete(counts))
  ).pipe(Effect.zipRight(probe({ measure: showPools })))

const listenerConnected = gauge(
  "workshop_pg_listener_connected",
  "1 while the process is notified of changes by other processes, otherwise 0."
)

/**
 * Whether each listener of this process is connected. There is one listener for each address of the database and its
 * cells.
 */
const listeners = new Map<object, boolean>()

const showListeners = Effect.suspend(() =>
  Metric.set(
    listenerConnected,
    listeners.size > 0 && [...listeners.values()].every((isListening) => isListening) ? 1 : 0
  )
)

/**
 * Exports whether a listener is connected; null removes a closed listener. The gauge is 1 only while all listeners of
 * the process are connected, because a process that misses notifications accepts a revoked key until its cache entry
 * expires.
 */
export const showListener = (listener: object, isConnected: boolean | null): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isConnected === null) listeners.delete(listener)
    else listeners.set(listener, isConnected)
    return showListeners
  })

const notificationsDue = gauge(
  "workshop_notifications_due",
  "Due notifications that are not sent yet, in the whole database, by receiver. At most 2000 per receiver are counted."
)
const notificationsOldestDue = gauge(
  "workshop_notifications_oldest_due_seconds",
  "Seconds that the oldest due notification has waited, by receiver."
)

/** The state of the queues and the database, read on each scrape. */
const database = {
  due: gauge(
    "workshop_deliveries_due",
    "Due deliveries that are not sent yet, in the whole database. At most 2000 are counted."
  ),
  oldest_due_s: gauge("workshop_deliveries_oldest_due_seconds", "Seconds that the oldest due delivery has waited."),
  client_due: Metric.tagged(notificationsDue, "receiver", "client"),
  client_oldest_due_s: Metric.tagged(notificationsOldestDue, "receiver", "client"),
  owner_due: Metric.tagged(notificationsDue, "receiver", "owner"),
  owner_oldest_due_s: Metric.tagged(notificationsOldestDue, "receiver", "owner"),
  webhooks_off: gauge("workshop_webhooks_off", "Webhooks that are off. Their deliveries wait."),
  snapshot: gauge(
    "workshop_pg_oldest_snapshot_transactions",
    "Age of the oldest snapshot, in transactions. An old snapshot slows down the delivery queue."
  ),
  xid_age: gauge(
    "workshop_pg_oldest_transaction_id_age",
    "Age of the oldest unfrozen rows, in transaction ids. At 2 billion, the server stops all writes."
  ),
  clock_s: gauge(
    "workshop_pg_clock_offset_seconds",
    "Seconds by which the database's clock is ahead of this process's clock."
  )
}

/** The gauges of a database. */
export type Gauges = typeof database

/** The gauges of a cell, labelled with its name; without a label if there is only one cell. */
export const gaugesOf = (cell: string | undefined): Gauges =>
  cell === undefined
    ? database
    : (Object.fromEntries(
        Object.entries(database).map(([name, gauge]) => [name, Metric.tagged(gauge, "cell", cell)])
      ) as Gauges)
