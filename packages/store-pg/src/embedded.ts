/**
 * The entry `@workshop/store-pg/embedded`: a Postgres that the process runs with its data in a folder, for development
 * and small shops.
 */

export {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  layer,
  migrateEmbedded,
  shareServer,
  start,
  THROWAWAY_SETTINGS
} from "./embedded/EmbeddedPostgres.js"
export type { EmbeddedRefusal, EmbeddedRefused } from "./embedded/EmbeddedRefused.js"
export type * from "./migrate/MigrationError.js"
