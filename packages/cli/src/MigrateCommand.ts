import { Console, Effect } from "effect"
import { databaseUrlFlag, servedDataDir, storeRefused } from "./StoreChoice.js"
import { command, json, toggle } from "./terminal/commands.js"

const migrateOptions = {
  databaseUrl: databaseUrlFlag(
    "The Postgres database; its role may create tables. Without one, what workshop serve keeps in --data-dir."
  ),
  dataDir: servedDataDir,
  roles: toggle(
    "roles",
    "Then let the roles workshop_service and workshop_reader do what roles.sql grants, and nothing else; for the owner of the tables.",
    "WORKSHOP_MIGRATE_ROLES"
  ),
  json
}

const sharedIn = (dataDir: string) =>
  Effect.flatMap(
    Effect.promise(() => import("@workshop/store-pg/embedded")),
    ({ share }) => share({ dataDir })
  )

/** `workshop migrate` (Specification, Commands): safe to run twice, and from two places at once. */
export const migrateCommand = command({
  name: "migrate",
  examples: ["workshop migrate", "DATABASE_URL_FILE=/run/secrets/database-url workshop migrate --roles"],
  options: migrateOptions,
  run: ({ databaseUrl, dataDir, roles, json }) =>
    Effect.gen(function* () {
      const { migrate } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const url = databaseUrl ?? (yield* sharedIn(dataDir)).url
      const applied = yield* migrate(url)
      if (roles) {
        const { grantRoles } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
        yield* grantRoles(url)
      }
      const result = applied.length === 0 ? "The database was up to date." : `Applied ${applied.join(", ")}.`
      const granted = roles ? " The roles workshop_service and workshop_reader have their rights." : ""
      yield* Console.log(json ? JSON.stringify({ applied }) : result + granted)
    }).pipe(Effect.scoped, Effect.mapError(storeRefused))
})
