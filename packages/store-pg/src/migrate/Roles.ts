import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { connect } from "./Session.js"

/** What `roles.sql` of this package says. */
export const rolesSql = Effect.sync(() => readFileSync(new URL("../../roles.sql", import.meta.url), "utf8"))

/**
 * Gives the roles `workshop_service` and `workshop_reader` their rights in a migrated database, and takes from them all others. The
 * connection's role owns the tables. A role that is missing is made, without a login, where it may create roles.
 */
export const grantRoles = (url: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* connect(url)
      yield* session.run(yield* rolesSql)
    })
  )
