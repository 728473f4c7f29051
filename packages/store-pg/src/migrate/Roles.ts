import { Effect } from "effect"
import { withRoleRemedy } from "../connection/DatabaseFailed.js"
import { checkedSchema, type Database, inSchema } from "../connection/Schema.js"
import { roles } from "./generated/sql.js"
import { recordAct } from "./OperatorAudit.js"
import { openMigrationSession } from "./Session.js"

/** The text of this package's `roles.sql`, for the tables of a schema. */
export const rolesSql = (options: Pick<Database, "schema"> = {}): string => inSchema(roles, options.schema)

/**
 * Grants the roles `workshop_service` and `workshop_reader` their rights in a migrated database, and revokes all their
 * other rights. The connection's role must own the tables. If that role may create roles, a missing role is created,
 * without a login.
 */
export const grantRoles = (url: string, options: Pick<Database, "schema"> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* openMigrationSession(url, { schema: yield* checkedSchema(options.schema) })
      yield* session.run(rolesSql(options))
      yield* recordAct(session, "database.roles_granted")
    })
  ).pipe(
    Effect.mapError(
      withRoleRemedy("The database role may not grant the rights. Use the owner of the tables, such as workshop_owner")
    )
  )
