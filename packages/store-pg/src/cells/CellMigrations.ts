import { Effect } from "effect"
import { DatabaseFailed } from "../connection/DatabaseFailed.js"
import { inSchema } from "../connection/Schema.js"
import { type Migration, PACKAGE_MIGRATIONS } from "../migrate/Migration.js"
import type { MigrationError } from "../migrate/MigrationError.js"
import { migrateSchema, type SchemaMigrationOptions, takeLock } from "../migrate/Migrator.js"
import { openMigrationSession } from "../migrate/Session.js"
import { addToDirectory, type DirectoryCell, directoryCells, withSession } from "./CellDirectory.js"
import { identityOf, idLabelOf, nameLabelOf, refuseHome, refuseOtherCell } from "./CellIdentity.js"
import { type CellAddress, type CellLocation, cellFailure, locateCells, wrongCellRefusal } from "./CellLocations.js"
import { isCitus } from "./CitusNodes.js"

/** Adds the cell's name to a failed migration's error. */
const addCellName = (cell: CellLocation, error: { readonly message: string }): DatabaseFailed =>
  error instanceof DatabaseFailed && error.reason !== "statement"
    ? cellFailure(cell)(error)
    : wrongCellRefusal(
        `The cell ${cell.name} could not be migrated (${error.message.replace(/\.$/, "")}). Solve this problem, and run the command again`
      )

/**
 * Makes Citus store the schema of a cell, with all its tables, on one worker. Does nothing without Citus. Unlogged
 * tables become logged, because they would delay a move to another worker.
 */
const distribute = (cell: CellLocation) =>
  withSession(cell, (session) =>
    Effect.gen(function* () {
      if (!(yield* isCitus(session))) return
      const [current] = yield* session.run<{ is_distributed: boolean }>(
        "select exists (select from pg_dist_schema s join pg_namespace n on n.oid = s.schemaid where n.nspname = $1) as is_distributed",
        [cell.schema]
      )
      if (current?.is_distributed === true) return
      yield* session.run("alter table rate_limit set logged")
      yield* session.run("select citus_schema_distribute($1::regnamespace)", [cell.schema])
    })
  )

/** Writes a cell's name and id into its schema unless they are there already. Returns the id. */
const labelCell = (cell: CellLocation, expected: DirectoryCell | undefined) =>
  withSession(cell, (session, text) =>
    Effect.gen(function* () {
      const actual = yield* identityOf(session, text)
      if (actual !== null && actual.id !== null) return actual.id
      const [newId] = yield* session.run<{ readonly id: string }>("select gen_random_uuid()::text as id")
      const id = expected?.id ?? newId!.id
      yield* session.run(text("insert into workshop.database_label (name) values ($1), ($2) on conflict do nothing"), [
        nameLabelOf(cell.name),
        idLabelOf(id)
      ])
      return id
    })
  )

/** The options of a migration: the schema of the home cell, which may be the only one, and the further cells. */
export interface MigrateOptions extends SchemaMigrationOptions {
  /**
   * Further cells. The migration creates and migrates their schemas, and adds them to the directory in the home cell.
   */
  readonly cells?: ReadonlyArray<CellAddress> | undefined
}

/**
 * Migrates a database to the schema of this program. Returns the names of the migrations that it applied, which may be
 * none. Several processes may call it at once: one migrates, and the others wait. A newer schema that this program can
 * use is not changed.
 * @param url - A connection string whose role may create tables. It must lead to Postgres itself, because a pooler does
 * not preserve session locks.
 */
export const migrate = (
  url: string,
  options: MigrateOptions = {}
): Effect.Effect<ReadonlyArray<string>, MigrationError> => applyMigrations(url, options, PACKAGE_MIGRATIONS)

/** Does {@link migrate} with the given migrations. */
export const applyMigrations = (url: string, options: MigrateOptions, migrations: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const { cells = [], ...home } = options
    const [first, ...others] = yield* locateCells({ url, schema: options.schema }, cells)
    yield* refuseHome(
      first!,
      [first!, ...others].map(({ name }) => name)
    )
    const names = yield* migrateSchema(url, home, migrations)
    return others.length === 0 ? names : [...names, ...(yield* migrateCells(first!, others, migrations))]
  })

/** Creates the further cells that do not exist yet, migrates all of them, and adds them to the directory. One process at a time does this. */
export const migrateCells = (
  home: CellLocation,
  others: ReadonlyArray<CellLocation>,
  migrations: ReadonlyArray<Migration> = PACKAGE_MIGRATIONS
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* openMigrationSession(home.url, { schema: home.schema })
      yield* takeLock(session, home.schema)
      const directory = yield* directoryCells((sql) => session.run(inSchema(sql, home.schema)))
      const entryOf = ({ name }: CellLocation) => directory.find((cell) => cell.name === name)
      // All cells are checked first, so that nothing is written if one of them is refused.
      for (const cell of others)
        yield* Effect.mapError(refuseOtherCell(cell, entryOf(cell)), (error) => addCellName(cell, error))
      const names: Array<string> = []
      const identifiedCells: Array<{ readonly name: string; readonly id: string }> = []
      for (const cell of others) {
        const work = Effect.gen(function* () {
          const applied = yield* migrateSchema(cell.url, { schema: cell.schema, isCell: true }, migrations)
          names.push(...applied.map((name) => `${cell.name}: ${name}`))
          yield* distribute(cell)
          identifiedCells.push({ name: cell.name, id: yield* labelCell(cell, entryOf(cell)) })
        })
        yield* Effect.mapError(work, (error) => addCellName(cell, error))
      }
      yield* addToDirectory(home, identifiedCells)
      return names
    })
  )
