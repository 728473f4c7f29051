import { Effect, Layer } from "effect"
import { layer } from "../../src/PgStore.js"
import { testDatabase } from "./TestDatabase.js"

/** An empty Postgres store on a new database. */
export const postgresStore = Layer.unwrapScoped(Effect.map(testDatabase, ({ url }) => Layer.orDie(layer({ url }))))
