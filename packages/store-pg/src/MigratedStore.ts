import { Config, Effect, Layer } from "effect"
import { migrate } from "./migrate/Migrator.js"
import * as PgStore from "./PgStore.js"

/**
 * All store ports on a database that is first migrated to this program's schema, for programs without a deployment step of their own. The
 * role must be allowed to create tables. A newer schema and an unavailable database are refused.
 */
export const layer = (options: PgStore.PgStoreOptions) =>
  Layer.unwrapEffect(Effect.as(migrate(options.url, options), PgStore.layer(options)))

/** As {@link layer}, by configuration: `layerConfig({ url: Config.redacted("DATABASE_URL") })`. */
export const layerConfig = (config: Config.Config.Wrap<PgStore.PgStoreConfig>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(config), (given) => layer(PgStore.optionsOf(given))))
