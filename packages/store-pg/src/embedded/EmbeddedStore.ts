import { Effect, Layer } from "effect"
import * as MigratedStore from "../MigratedStore.js"
import type { PgStoreOptions } from "../PgStore.js"
import { type EmbeddedOptions, start } from "./EmbeddedPostgres.js"

/** Every store port on a Postgres of this process's own, which keeps its data in `dataDir` and stops with the layer. */
export const layer = ({ secretsKeys = [], ...options }: EmbeddedOptions & Pick<PgStoreOptions, "secretsKeys">) =>
  Layer.unwrapScoped(Effect.map(start(options), ({ url }) => MigratedStore.layer({ url, secretsKeys })))
