/** The entry `@workshop/store-pg`: the store on Postgres. */

export { type CellAddress, parseCells } from "./cells/CellLocations.js"
export { sqlTransaction } from "./commands/SqlTransaction.js"
export * as MigratedStore from "./MigratedStore.js"
export type * from "./migrate/MigrationError.js"
export * as PgStore from "./PgStore.js"
export * as Retention from "./retention/Retention.js"
