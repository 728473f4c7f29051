/** The entry `@workshop/store-pg/migrate`: migrations of the database, its roles and the check of its data. */

export {
  type AddCellOptions,
  addCell,
  balanceCells,
  type CellMoveResult,
  type CellStatus,
  listCells,
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
