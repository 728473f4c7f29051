import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openMigrationSession } from "../src/migrate/Session.js"
import { testDatabase } from "./cluster/TestDatabase.js"

describe("the settings of the store's sessions", { timeout: 90_000 }, () => {
  it.each([0, 250, 1_500, 3_000, 60_000, 5_400_000, 3_600_000, 86_400_000])(
    "a session gets a statement timeout of %d ms, in any unit in which Postgres prints it",
    (statement_timeout_ms) =>
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url, { statement_timeout_ms })
        const [setting] = yield* session.run<{ ms: number }>(
          "select setting::integer as ms from pg_settings where name = 'statement_timeout'"
        )
        expect(setting?.ms).toBe(statement_timeout_ms)
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})
