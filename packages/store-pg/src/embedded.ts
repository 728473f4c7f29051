/**
 * Entry `@workshop/store-pg/embedded`: for development and small shops. It has a Postgres that the process runs with
 * its data in a folder, and a store on it.
 *
 * @example
 * ```ts
 * import * as EmbeddedStore from "@workshop/store-pg/embedded"
 * ```
 *
 * @packageDocumentation
 */

export {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  type EmbeddedStoreError,
  type EmbeddedStoreOptions,
  layer,
  migrateEmbedded,
  shareServer,
  startServer,
  THROWAWAY_SETTINGS
} from "./embedded/EmbeddedPostgres.js"
export type { EmbeddedRefusal, EmbeddedRefused } from "./embedded/EmbeddedRefused.js"
export type * from "./migrate/MigrationError.js"
