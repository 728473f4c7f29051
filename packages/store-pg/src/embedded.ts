/**
 * The entry `@workshop/store-pg/embedded`: a Postgres that the process runs with its data in a folder, for development
 * and small shops.
 */

export {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  layer,
  migrate,
  shareServer,
  start,
  throwawaySettings
} from "./embedded/EmbeddedPostgres.js"
export type { EmbeddedRefusal, EmbeddedRefused } from "./embedded/EmbeddedRefused.js"
export type * from "./migrate/MigrationError.js"
