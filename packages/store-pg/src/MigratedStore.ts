import { Config, Effect, Layer } from "effect"
import { callersPool } from "./connection/CallersPool.js"
import { checkedSchema } from "./connection/Schema.js"
import { migrate } from "./migrate/Migrator.js"
import * as PgStore from "./PgStore.js"
import { inRealTime } from "./RealTime.js"
import { checkedOptions } from "./StoreOptions.js"

/** Refuses a pool of another database before the migration writes into that of the url. Its connection may break during the migration. */
const poolChecked = ({ url, schema, pool }: PgStore.PgStoreOptions) =>
  pool === undefined
    ? Effect.void
    : Effect.flatMap(checkedSchema(schema), (checked) =>
        Effect.flatMap(callersPool(pool, { url, schema: checked }), ({ checked }) => checked)
      )

/**
 * All store ports on a database that is first migrated to this program's schema, for programs without a deployment step of their own. The
 * role must be allowed to create tables. A newer schema and an unavailable database are refused.
 */
export const layer = (options: PgStore.PgStoreOptions) =>
  inRealTime(
    Layer.unwrapScoped(
      Effect.gen(function* () {
        yield* checkedOptions(options)
        yield* poolChecked(options)
        yield* migrate(options.url, options)
        return PgStore.layer(options)
      })
    )
  )

/** As {@link layer}, by configuration: `layerConfig({ url: Config.redacted("DATABASE_URL") })`. */
export const layerConfig = (config: Config.Config.Wrap<PgStore.PgStoreConfig>) =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(config), (given) => layer(PgStore.optionsOf(given))))
