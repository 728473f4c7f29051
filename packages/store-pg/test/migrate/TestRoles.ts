import { migrate, rolesSql } from "@workshop/store-pg/migrate"
import { Effect, type Scope } from "effect"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/**
 * The name of a role for one test database. It includes the database's name, because roles are shared by all databases
 * of the server.
 */
export const roleIn = (url: string, role: string): string => `${role}_${new URL(url).pathname.slice(1)}`

/** The address of a database for a role that cannot log in: the owner's connection switches to the role. */
export const as = (url: string, role: string): string => {
  const roleUrl = new URL(url)
  roleUrl.searchParams.set("options", `-c role=${role}`)
  return roleUrl.href
}

/** Replaces the role names in `sql` by those of the test database. */
export const renameRoles = (url: string, sql: string): string =>
  sql.replaceAll(/\bworkshop_(owner|service|reader)\b/g, (role) => roleIn(url, role))

/**
 * Creates a database with the roles of `roles.sql`, and returns addresses for its owner, its service and its reader.
 */
export const databaseOfRoles = (
  at: { readonly schema?: string } = {}
): Effect.Effect<{ readonly url: string; readonly service: string; readonly reader: string }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    yield* migrate(url, at)
    const session = yield* openMigrationSession(url)
    const [service, reader] = [roleIn(url, "workshop_service"), roleIn(url, "workshop_reader")]
    yield* Effect.acquireRelease(session.run(renameRoles(url, rolesSql(at))), () =>
      Effect.orDie(session.run(`drop owned by ${service}, ${reader}; drop role ${service}, ${reader}`))
    )
    return { url, service: as(url, service), reader: as(url, reader) }
  }).pipe(Effect.orDie)
