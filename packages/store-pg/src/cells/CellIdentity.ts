import { Effect } from "effect"
import type { Session } from "../migrate/Session.js"
import {
  type DirectoryCell,
  directoryCells,
  nullIfAbsent,
  refuseOmittedCells,
  refuseOtherNames,
  withSession
} from "./CellDirectory.js"
import {
  type CellLocation,
  type CellOptions,
  cellFailure,
  cellsRefusal,
  HOME_CELL,
  locateCells,
  wrongCellRefusal
} from "./CellLocations.js"

const NAME_LABEL = "cell:"
const ID_LABEL = "cell_id:"

/** The name of the row in the table `database_label` that stores the name of a further cell. */
export const nameLabelOf = (name: string): string => `${NAME_LABEL}${name}`

/** The name of the row in the table `database_label` that stores the id of a further cell. */
export const idLabelOf = (id: string): string => `${ID_LABEL}${id}`

/** The name and the id of a cell, from the labels in its schema. Both are null in a home cell. */
export interface CellIdentity {
  readonly name: string | null
  /** Null if a program from before cells had ids labelled the schema. */
  readonly id: string | null
}

const labelValue = (prefix: string, labels: ReadonlyArray<string | null>): string | null =>
  labels.find((label) => label?.startsWith(prefix))?.slice(prefix.length) ?? null

/** Parses the labels of a schema. */
export const identityIn = (labels: ReadonlyArray<string | null>): CellIdentity => ({
  name: labelValue(NAME_LABEL, labels),
  id: labelValue(ID_LABEL, labels)
})

/** Describes, without a remedy, which other schema is at the address of a cell; null if it is the cell. */
export const mismatchOf = ({ name, id }: Pick<DirectoryCell, "name" | "id">, actual: CellIdentity): string | null => {
  if (name === HOME_CELL)
    return actual.name === null ? null : `The address of the home cell is that of the cell ${actual.name}`
  if (actual.name === null) return `There is no cell at the address of the cell ${name}`
  if (actual.name !== name) return `The address of the cell ${name} is that of the cell ${actual.name}`
  return id !== null && id !== actual.id
    ? `At the address of the cell ${name} is another cell with the same name`
    : null
}

/** Fails if the database is a further cell, whose name is `name`; null is a home cell. */
export const refuseFurtherCell = (name: string | null) =>
  name === null
    ? Effect.void
    : cellsRefusal(`The database is the cell ${name} of another database, which is its home cell`)

const identityFrom = (session: Session, sql: string) =>
  session.run<{ readonly label: string | null; readonly id: string | null; readonly has_shops: boolean }>(sql).pipe(
    Effect.map(([row]) => (row === undefined ? null : { name: row.label, id: row.id, hasShops: row.has_shops })),
    nullIfAbsent
  )

/** The name of `database_label` before migration 0033. */
const FORMER_TABLE = "mark"

/**
 * Reads the identity of a schema and whether it has shops; null if it has no tables. It reads the tables of every
 * version, because a migration calls it first.
 */
export const identityOf = (session: Session, text: (sql: string) => string) => {
  const identityQuery = (table: string) =>
    text(
      `select (select substr(name, 6) from workshop.${table} where name like 'cell:%') as label,
        (select substr(name, 9) from workshop.${table} where name like 'cell\\_id:%') as id, exists (select from workshop.shop) as has_shops`
    )
  return Effect.flatMap(identityFrom(session, identityQuery("database_label")), (identity) =>
    identity === null ? identityFrom(session, identityQuery(FORMER_TABLE)) : Effect.succeed(identity)
  )
}

/**
 * Refuses a home cell that is a further cell of another database, and names that omit one of its cells. Migrations call
 * this before they write.
 */
export const refuseHome = (home: CellLocation, names: ReadonlyArray<string>) =>
  withSession(home, (session, text) =>
    Effect.gen(function* () {
      const identity = yield* identityOf(session, text)
      yield* refuseFurtherCell(identity?.name ?? null)
      yield* refuseOmittedCells(yield* directoryCells((sql) => session.run(text(sql))), names)
    })
  )

/**
 * For a cell in the directory: refuses an address with another schema. For a new cell: refuses an address with another
 * cell or with shops.
 */
export const refuseOtherCell = (cell: CellLocation, expected: DirectoryCell | undefined) =>
  withSession(cell, (session, text) =>
    Effect.gen(function* () {
      const { name } = cell
      const actual = yield* identityOf(session, text)
      const other = actual === null || actual.name === null ? null : mismatchOf({ name, id: null }, actual)
      if (other !== null)
        return yield* wrongCellRefusal(`${other}. In --cells, give each cell the address that it had before`)
      if (expected === undefined) {
        if (actual?.hasShops === true)
          return yield* wrongCellRefusal(
            `The database or schema for the new cell ${name} already has shops. Choose an empty one, or restore the home cell whose directory has this cell`
          )
        return
      }
      const remedy = `Correct the cell's address in --cells, or restore the cell at that address. If it never had shops, remove it with workshop cell remove ${name}`
      if (actual === null || actual.name === null)
        return yield* wrongCellRefusal(
          `The directory in the home cell has the cell ${name}, but the cell is not at its address. ${remedy}`
        )
      const mismatch = mismatchOf(expected, actual)
      if (mismatch !== null) return yield* wrongCellRefusal(`${mismatch}. ${remedy}`)
      if (expected.id === null && Number(expected.shops) > 0 && !actual.hasShops)
        return yield* wrongCellRefusal(
          `The directory in the home cell placed ${Number(expected.shops) === 1 ? "1 shop" : `${expected.shops} shops`} in the cell ${name}, but at its address the cell has no shops. ${remedy}`
        )
    })
  )

/**
 * The locations of the cells in a command's options, home cell first. Refuses names that differ from the names in the
 * directory. `confirm` refuses a location whose schema is not the directory's cell.
 */
export const checkGivenCells = (url: string, { schema, cells = [] }: CellOptions) =>
  Effect.gen(function* () {
    const locations = yield* locateCells({ url, schema }, cells)
    const inDirectory = yield* withSession(locations[0]!, (session, text) => {
      const run: Session["run"] = (sql) => session.run(text(sql))
      const refused = refuseOtherNames(
        run,
        locations.map(({ name }) => name)
      )
      return Effect.zipRight(refused, directoryCells(run))
    })
    const confirm = (location: CellLocation) =>
      location.name === HOME_CELL
        ? Effect.void
        : Effect.mapError(
            refuseOtherCell(
              location,
              inDirectory.find(({ name }) => name === location.name)
            ),
            cellFailure(location)
          )
    return { locations, confirm }
  })
