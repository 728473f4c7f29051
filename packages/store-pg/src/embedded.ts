/** Entry `@workshop/store-pg/embedded`: a Postgres of its own in a folder, for development and small shops. */

export { type EmbeddedOptions, type EmbeddedPostgres, share, start, throwaway } from "./embedded/EmbeddedPostgres.js"
export type { EmbeddedRefusal } from "./embedded/EmbeddedRefused.js"
export { layer } from "./embedded/EmbeddedStore.js"
