import { Effect } from "effect"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/** The SQL of migrations, by file name. */
export type Files = Readonly<Record<string, string>>

/** A schema of a test database without any migration. */
export const emptySchema = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const at = { schema: "fixture" }
  return { url, at, session: yield* openMigrationSession(url, at) }
})
