import { Effect } from "effect"
import { type DatabaseFailed, NO_TABLE } from "../connection/DatabaseFailed.js"
import { inSchema } from "../connection/Schema.js"
import { recordAct } from "../migrate/OperatorAudit.js"
import { openMigrationSession, type Session } from "../migrate/Session.js"
import { type CellLocation, cellsRefusal, HOME_CELL, wrongCellRefusal } from "./CellLocations.js"
import { isCitus } from "./CitusNodes.js"

/** Runs work on a session of a cell. `text` puts the cell's schema into a statement. */
export const withSession = <A, E>(
  { url, schema }: CellLocation,
  work: (session: Session, text: (sql: string) => string) => Effect.Effect<A, E>
) =>
  Effect.scoped(
    Effect.flatMap(openMigrationSession(url, { schema }), (session) => work(session, (sql) => inSchema(sql, schema)))
  )

const NO_COLUMN = "42703"

/** Returns null if `work` fails because a schema, table or column does not exist. */
export const nullIfAbsent = <A>(work: Effect.Effect<A, DatabaseFailed>) =>
  Effect.catchIf(
    work,
    ({ code }) => code !== undefined && [...NO_TABLE, NO_COLUMN].includes(code),
    () => Effect.succeed(null)
  )

/** A cell in the directory. */
export interface DirectoryCell {
  readonly name: string
  /** Null if a program from before cells had ids added it. */
  readonly id: string | null
  /** The number of shops in the cell according to the directory, as text, because it is a bigint. */
  readonly shops: string
}

/** The cells in the directory, even if its schema is older; empty if there is no directory. `run` finds the tables in the schema `workshop`. */
export const directoryCells = (run: Session["run"]) =>
  run<DirectoryCell>(
    "select /* workshop cells */ name, to_jsonb(c) ->> 'id' as id, shops from workshop.cell c order by name"
  ).pipe(
    nullIfAbsent,
    Effect.map((rows) => rows ?? [])
  )

/** Refuses names that omit a cell of the directory, because the process could not serve that cell's shops. */
export const refuseOmittedCells = (knownCells: ReadonlyArray<DirectoryCell>, names: ReadonlyArray<string>) => {
  if (knownCells.length === 0) return Effect.void
  if (names.length === 1)
    return cellsRefusal(
      `The database is the home cell of several cells (${knownCells.map(({ name }) => name).join(", ")}), but the other cells were not given`
    )
  const removedCell = knownCells.find(({ name }) => !names.includes(name))
  return removedCell === undefined
    ? Effect.void
    : cellsRefusal(`The directory in the home cell has the cell ${removedCell.name}, which was not given`)
}

/**
 * Refuses names that differ from the names in the directory. `names` includes the home cell. `run` finds the tables in
 * the schema `workshop`.
 */
export const refuseOtherNames = (run: Session["run"], names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const knownCells = yield* directoryCells(run)
    const missing = names.find((name) => !knownCells.some((cell) => cell.name === name))
    if (names.length > 1 && missing !== undefined)
      return yield* wrongCellRefusal(
        `The directory in the home cell has no cell ${missing}. Correct the cell's name, or add the cell with workshop cell add or workshop migrate --cells`
      )
    yield* refuseOmittedCells(knownCells, names)
  })

/**
 * Adds cells to the directory and returns the names of new cells. The first process that serves the cells copies the
 * existing accounts.
 */
export const addToDirectory = (
  home: CellLocation,
  others: ReadonlyArray<{ readonly name: string; readonly id: string }>
) =>
  withSession(home, (session, text) =>
    Effect.gen(function* () {
      const isCoordinator = yield* isCitus(session)
      const [shopCount] = yield* session.run<{ readonly shops: string }>(
        text("select count(*) as shops from workshop.shop")
      )
      const { shops } = shopCount!
      yield* session.run("begin")
      // The lock waits for transactions that open accounts. Later transactions see the new cells and record that the
      // copies there are out of date.
      yield* session.run(text("lock table workshop.client_account in share mode"))
      // On Citus the home cell, on the coordinator, takes no new shops unless it already has some.
      yield* session.run(
        text("insert into workshop.cell (name, takes_shops, shops) values ($1, $2, $3) on conflict do nothing"),
        [HOME_CELL, !isCoordinator || Number(shops) > 0, shops]
      )
      const addedCell = yield* session.run<{ readonly name: string }>(
        text(
          "insert into workshop.cell (name, takes_shops, shops, id) select name, true, 0, id from unnest($1::text[], $2::text[]) n (name, id) on conflict do nothing returning name"
        ),
        [others.map(({ name }) => name), others.map(({ id }) => id)]
      )
      yield* session.run(
        text(
          "update workshop.cell c set id = n.id from unnest($1::text[], $2::text[]) n (name, id) where c.name = n.name and c.id is null"
        ),
        [others.map(({ name }) => name), others.map(({ id }) => id)]
      )
      yield* session.run(
        text(
          "insert into workshop.stale_account_copy (client_id, cell) select a.id, n.name from workshop.client_account a cross join unnest($1::text[]) n (name) on conflict do nothing"
        ),
        [addedCell.map(({ name }) => name)]
      )
      if (addedCell.length > 0)
        yield* recordAct(session, "database.cells_added", { cells: addedCell.map(({ name }) => name) })
      yield* session.run("commit")
      return addedCell.map(({ name }) => name)
    }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))
  )
