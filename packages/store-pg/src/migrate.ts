/**
 * Entry `@workshop/store-pg/migrate`: for operators' scripts, such as one that migrates before a release. It has the
 * migrations of the database, its roles and cells, and the check of its data.
 *
 * @example
 * ```ts
 * import { checkSchema, migrate } from "@workshop/store-pg/migrate"
 * ```
 *
 * @packageDocumentation
 */

export {
  type AddCellOptions,
  addCell,
  balanceCells,
  type CellMoveResult,
  type CellStatus,
  listCells,
  type MoveCellOptions,
  moveCell,
  removeCell
} from "./cells/CellLayout.js"
export { type CellLocation, type CellOptions, locateCells } from "./cells/CellLocations.js"
export { type MigrateOptions, migrate } from "./cells/CellMigrations.js"
export { type CheckDataOptions, type CheckResult, checkData, type InvariantViolation } from "./check/checkData.js"
export { DatabaseFailed, type DatabaseFailure } from "./connection/DatabaseFailed.js"
export type * from "./migrate/MigrationError.js"
export { checkSchema, type SchemaMigrationOptions } from "./migrate/Migrator.js"
export { grantRoles, rolesSql } from "./migrate/Roles.js"
export { type ResealingOptions, type ResealResult, reseal } from "./secrets/Resealing.js"
export { type SecretsRefusal, SecretsRefused } from "./secrets/WebhookSecrets.js"
