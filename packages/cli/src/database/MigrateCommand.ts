import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { Console, Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { actorFlag, withActor } from "../terminal/actor.js"
import { command, flagsOf, jsonFlag, optionalFlag, toggleFlag } from "../terminal/commands.js"
import { cellsIn } from "./cellsIn.js"
import { DEFAULT_FOLDER, databaseAddressFlags, migrateDatabase, storeRefusal } from "./StoreChoice.js"

const own = flagsOf("migrate")

const migrateOptions = {
  ...databaseAddressFlags(
    "The Postgres database, with a role that may create tables. The default is the embedded Postgres in --data-dir, if it exists."
  ),
  moveFrom: own.optional(
    "--move-from <schema>",
    "First move the tables to --schema from the schema in which an earlier release created them, usually public."
  ),
  noCreateSchema: toggleFlag(
    "no-create-schema",
    "Refuse a schema that does not have the workshop's tables yet, such as a misspelt one, instead of creating them."
  ),
  dataDir: optionalFlag(
    "--data-dir <folder>",
    "The folder of an embedded Postgres, which is created if it does not exist. The default is .workshop, if it exists."
  ).conflicts("databaseUrl"),
  roles: own.toggle(
    "roles",
    "After the migration, grant the roles workshop_service and workshop_reader the rights that roles.sql lists. Run the command as the owner of the tables."
  ),
  actor: actorFlag,
  json: jsonFlag
}

/** The name of a database in a sentence: its server and its name, without the user and the password. */
const nameOf = (url: string): string => {
  const [place = "", query] = url.slice(url.indexOf("://") + 3).split("?")
  const [authority = "", name] = place.split("/")
  const host = new URLSearchParams(query).get("host") ?? authority.slice(authority.lastIndexOf("@") + 1)
  return `${host === "" ? "localhost" : host}${name ? `/${name}` : ""}`
}

/**
 * The embedded Postgres. A folder is created only if a flag names it, because the command would otherwise migrate a new
 * database if DATABASE_URL was forgotten.
 */
const useEmbeddedPostgres = (dataDir: string | null) =>
  Effect.gen(function* () {
    const folder = dataDir ?? DEFAULT_FOLDER
    if (dataDir === null && !existsSync(folder))
      return yield* refuse(
        `No database was given, and there is no embedded Postgres in ${resolve(folder)}. Give --database-url, set DATABASE_URL, or create an embedded Postgres with --data-dir.`
      )
    const { shareServer } = yield* Effect.promise(() => import("@workshop/store-pg/embedded"))
    const { url } = yield* shareServer({ dataDir: folder })
    return { url, name: `The embedded Postgres in ${resolve(folder)}` }
  })

/**
 * The migrations that were applied, one line for each cell. The line of a cell other than the home cell begins with its
 * name and a colon.
 */
const formatApplied = (applied: ReadonlyArray<string>): string => {
  const byCell = new Map<string, Array<string>>()
  for (const migration of applied) {
    const [, cell = "", name = migration] = /^(\w+): (.+)$/.exec(migration) ?? []
    byCell.set(cell, [...(byCell.get(cell) ?? []), name])
  }
  return Array.from(byCell, ([cell, names]) =>
    cell === ""
      ? `Applied ${names.join(", ")}.`
      : `Applied in the cell ${cell}: ${names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0]}.`
  ).join("\n")
}

/**
 * `workshop migrate` (Specification, Commands): migrates the database. It can be run again, and by several processes at
 * the same time.
 */
export const migrateCommand = command({
  name: "migrate",
  examples: ["workshop migrate", "DATABASE_URL_FILE=/run/secrets/database-url workshop migrate --roles"],
  options: migrateOptions,
  run: ({ databaseUrl, dataDir, roles, actor, json, ...flags }) =>
    Effect.gen(function* () {
      const schema = flags.schema ?? undefined
      const { url, name } =
        databaseUrl === null
          ? yield* useEmbeddedPostgres(dataDir)
          : { url: databaseUrl, name: `The database ${nameOf(databaseUrl)}` }
      const { cells } = yield* cellsIn(flags)
      const applied = yield* migrateDatabase(databaseUrl === null ? "embedded" : "postgres", url, {
        schema,
        moveFrom: flags.moveFrom ?? undefined,
        createSchema: !flags.noCreateSchema,
        cells
      })
      if (roles) {
        const { grantRoles, locateCells } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
        for (const place of yield* locateCells({ url, schema }, cells))
          yield* grantRoles(place.url, { schema: place.schema })
      }
      const result =
        applied.length === 0 ? `${name} was up to date.` : `${formatApplied(applied)} ${name} is up to date.`
      const rightsNote = roles ? " The roles workshop_service and workshop_reader now have their rights." : ""
      yield* Console.log(json ? JSON.stringify({ database: name, applied }) : result + rightsNote)
    }).pipe(Effect.scoped, Effect.mapError(storeRefusal), withActor(actor))
})
