import { Effect, Metric, MetricBoundaries } from "effect"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

/** How many commands each committed transaction ran. */
export const batchCommands = Metric.histogram(
  "workshop_store_batch_commands",
  MetricBoundaries.fromIterable([1, 2, 4, 8, 16, 32, 64, 128]),
  "Commands per transaction."
)

const waiting = gauge("workshop_store_waiting_commands", "Commands that wait for their turn, by lane.")

/** Exports how many commands wait in a queue. */
export const showWaiting = (lane: string, n: number): Effect.Effect<void> =>
  Metric.set(Metric.tagged(waiting, "lane", lane), n)

/** Commands that waited too long and were refused. */
export const expiredCommands = Metric.counter("workshop_store_expired_commands_total", {
  description: "Commands refused because their turn did not come in time.",
  incremental: true
})

const pool = gauge("workshop_pg_pool_connections", "Connections of the pool for reads, by state.")
const poolWaiting = gauge("workshop_pg_pool_waiting", "Reads that wait for a connection of the pool.")

/** Exports the state of the pool for reads. */
export const showPool = (now: {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.set(Metric.tagged(pool, "state", "total"), now.totalCount),
      Metric.set(Metric.tagged(pool, "state", "idle"), now.idleCount),
      Metric.set(poolWaiting, now.waitingCount)
    ],
    { discard: true }
  )

/**
 * 1 while the process receives notifications of other processes' changes; without them a revoked key works until its cache entry expires.
 */
export const listenerConnected = gauge(
  "workshop_pg_listener_connected",
  "1 while the process hears what other processes change, else 0."
)

/** The state of the queue and the database, read on each scrape. */
const database = {
  due: gauge(
    "workshop_deliveries_due",
    "Deliveries that are due and wait, over all processes; at most 2000 are counted."
  ),
  oldest_due_s: gauge(
    "workshop_deliveries_oldest_due_seconds",
    "For how long the delivery that waits longest has been due."
  ),
  webhooks_off: gauge("workshop_webhooks_off", "Webhooks that are off, whose deliveries are parked."),
  snapshot: gauge(
    "workshop_pg_oldest_snapshot_transactions",
    "How many transactions ago the oldest snapshot was taken; a queue grows slow behind an old one."
  ),
  xid_age: gauge(
    "workshop_pg_oldest_transaction_id_age",
    "How many transaction ids ago the oldest rows were frozen; at 2 billion the server stops all writes."
  ),
  clock_s: gauge("workshop_pg_clock_offset_seconds", "By how much the database's clock is ahead of this process's.")
}

/** The gauges of a database. */
export type Gauges = typeof database

/** The gauges of one of several cells, labelled with its name; without a label where there is one cell. */
export const gaugesOf = (cell: string | undefined): Gauges =>
  cell === undefined
    ? database
    : (Object.fromEntries(
        Object.entries(database).map(([name, gauge]) => [name, Metric.tagged(gauge, "cell", cell)])
      ) as Gauges)
