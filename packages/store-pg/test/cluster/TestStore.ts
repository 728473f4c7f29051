import { Effect, Layer } from "effect"
import { layer } from "../../src/PgStore.js"
import { testDatabase } from "./TestDatabase.js"

/** The Postgres store, empty, on a database of its own. */
export const postgresStore = Layer.unwrapScoped(Effect.map(testDatabase, ({ url }) => Layer.orDie(layer({ url }))))
