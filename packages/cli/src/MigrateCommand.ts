import { Console, Effect } from "effect"
import { databaseUrlFlag, migrated, schemaFlag, servedDataDir, storeRefused } from "./StoreChoice.js"
import { command, json, optional, toggle } from "./terminal/commands.js"

const migrateOptions = {
  databaseUrl: databaseUrlFlag(
    "The Postgres database; its role may create tables. Without one, what workshop serve keeps in --data-dir."
  ),
  schema: schemaFlag,
  moveFrom: optional({
    flag: "--move-from <schema>",
    description: "First move the tables here from the schema in which an earlier release made them, usually public.",
    variable: "WORKSHOP_MIGRATE_MOVE_FROM"
  }),
  whileRunning: toggle(
    "while-running",
    "Move them although processes of the earlier release are connected; for the database's owner. Their connections are ended once.",
    "WORKSHOP_MIGRATE_WHILE_RUNNING"
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
  run: ({ databaseUrl, dataDir, roles, json, ...flags }) =>
    Effect.gen(function* () {
      const schema = flags.schema ?? undefined
      const url = databaseUrl ?? (yield* sharedIn(dataDir)).url
      const applied = yield* migrated(databaseUrl === null ? "embedded" : "postgres", url, {
        schema,
        moveFrom: flags.moveFrom ?? undefined,
        whileRunning: flags.whileRunning
      })
      if (roles) {
        const { grantRoles } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
        yield* grantRoles(url, { schema })
      }
      const result = applied.length === 0 ? "The database was up to date." : `Applied ${applied.join(", ")}.`
      const granted = roles ? " The roles workshop_service and workshop_reader have their rights." : ""
      yield* Console.log(json ? JSON.stringify({ applied }) : result + granted)
    }).pipe(Effect.scoped, Effect.mapError(storeRefused))
})
