/**
 * Entry `@workshop/store-pg`: for programs that keep the workshop's data in their Postgres. It has the store, which can
 * also migrate the database first, and the removal of old rows.
 *
 * @example
 * ```ts
 * import { MigratedStore } from "@workshop/store-pg"
 * ```
 *
 * @packageDocumentation
 */

export { type CellAddress, parseCells } from "./cells/CellLocations.js"
export { sqlTransaction } from "./commands/SqlTransaction.js"
export type { PoolLike } from "./connection/CallersPool.js"
export type { FailureKind, PgFailure } from "./connection/PgFailure.js"
export type { Database } from "./connection/Schema.js"
export type { LeaseClock } from "./deliveries/PgDeliveries.js"
export * as MigratedStore from "./MigratedStore.js"
export type * from "./migrate/MigrationError.js"
export * as PgStore from "./PgStore.js"
export type { Partitioning } from "./retention/Partitions.js"
export * as Retention from "./retention/Retention.js"
