import { Effect, Layer } from "effect"
import { migrate } from "./migrate/Migrator.js"
import * as PgStore from "./PgStore.js"

/**
 * Every store port on a database whose schema is brought to this program's first, for programs that nobody migrates for.
 * Its role must be allowed to create tables. A schema that is newer is refused, and so is a database that is away.
 */
export const layer = (options: PgStore.PgStoreOptions) =>
  Layer.unwrapEffect(Effect.as(migrate(options.url, options), PgStore.layer(options)))
