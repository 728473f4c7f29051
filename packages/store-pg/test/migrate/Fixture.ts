import { Effect } from "effect"
import { connect } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/** Texts of migrations by the names of their files. */
export type Files = Readonly<Record<string, string>>

/** A schema of a test database in which nothing was migrated yet. */
export const emptySchema = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const at = { schema: "fixture" }
  return { url, at, session: yield* connect(url, at) }
})
