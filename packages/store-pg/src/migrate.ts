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
export { type CellLocation, locateCells } from "./cells/CellLocations.js"
export { type MigrateOptions, migrate } from "./cells/CellMigrations.js"
export { type CheckResult, checkData, type InvariantViolation } from "./check/checkData.js"
export { DatabaseFailed, type DatabaseFailure } from "./connection/DatabaseFailed.js"
export type * from "./migrate/MigrationError.js"
export { checkSchema } from "./migrate/Migrator.js"
export { grantRoles, rolesSql } from "./migrate/Roles.js"
export { reseal } from "./secrets/Resealing.js"
export { SecretsRefused } from "./secrets/WebhookSecrets.js"
