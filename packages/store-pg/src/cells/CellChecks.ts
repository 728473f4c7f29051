import type { SqlClient } from "@effect/sql/SqlClient"
import { StoreUnavailable } from "@workshop/core"
import { Effect } from "effect"
import { DatabaseFailed, DENIED } from "../connection/DatabaseFailed.js"
import { isDenied } from "../connection/PgFailure.js"
import { runRead } from "../connection/Sql.js"
import { PACKAGE_MIGRATIONS } from "../migrate/Migration.js"
import { checkOn } from "../migrate/Migrator.js"
import { sessionOf } from "../observe/PgProbe.js"
import { directoryCells, refuseOtherNames } from "./CellDirectory.js"
import { identityIn, mismatchOf, refuseFurtherCell } from "./CellIdentity.js"
import { cellsRefusal, HOME_CELL, wrongCellRefusal } from "./CellLocations.js"

/** The name of the cell that a SqlClient's schema is; null for a home cell. */
const furtherCellName = (sql: SqlClient) =>
  Effect.map(
    sql<{
      readonly name: string
    }>`select /* workshop name of cell */ name from workshop.database_label where name like 'cell:%'`,
    (rows) => identityIn(rows.map(({ name }) => name)).name
  )

/** The reason why a database could not be checked: it does not respond, or this role may not read it. */
type UncheckedReason = "silent" | "denied"

/**
 * Makes a check succeed if the database does not respond or this role may not read it, because later requests to it
 * fail anyway. Returns the reason why the check could not be made, or null.
 */
const ignoreUnavailable = <E>(
  check: Effect.Effect<void, E>
): Effect.Effect<UncheckedReason | null, Extract<E, DatabaseFailed>> =>
  Effect.catchAll(Effect.as(check, null), (error) => {
    if (!(error instanceof DatabaseFailed)) return Effect.succeed(isDenied(error) ? "denied" : "silent")
    const { reason, code } = error
    return reason === "bad_cells" || reason === "wrong_cell"
      ? Effect.fail(error as Extract<E, DatabaseFailed>)
      : Effect.succeed(code === DENIED ? "denied" : "silent")
  })

/** The remedy for a cell that was added without grants. */
const deniedRemedy = (name: string) =>
  `The database role of this process may not read the cell ${name}. As the owner of the tables, run workshop migrate --roles with all cells in --cells`

/**
 * For a process without further cells: refuses a database whose directory has several cells, or that is itself a
 * further cell.
 */
export const checkAlone = (sql: SqlClient) =>
  ignoreUnavailable(
    Effect.gen(function* () {
      yield* refuseFurtherCell(yield* furtherCellName(sql))
      yield* refuseOtherNames(sessionOf(sql).run, [HOME_CELL])
    })
  )

/** A cell with a SqlClient for its database. */
interface OpenCell {
  readonly name: string
  readonly schema: string
  readonly sql: SqlClient
}

/** Reads the labels of a cell, and the number of its migrations. */
const readLabels = (sql: SqlClient) =>
  sql<{ readonly name: string | null; readonly n: number }>`select /* workshop confirm cell */ m.name, s.n
    from (select count(*)::integer as n from workshop.schema_migration) s
    left join workshop.database_label m on m.name like 'cell%'`

/** The mismatch between a cell's labels and the directory, with the remedy, or null. */
const labelMismatch = (name: string, id: string | null, labels: ReadonlyArray<string | null>): string | null => {
  const mismatch = mismatchOf({ name, id }, identityIn(labels))
  return mismatch === null
    ? null
    : `${mismatch}. Correct the address of the cell ${name} in --cells, or restore the cell at that address`
}

/** Reads the ids of cells, by name, from the directory in the home cell. */
const readCellIds = (home: SqlClient) =>
  Effect.map(directoryCells(sessionOf(home).run), (cells) => new Map(cells.map(({ name, id }) => [name, id])))

/**
 * Confirms that the right cell is at an address. Reads the directory again if the cell's id is unknown or does not
 * match.
 */
export const makeConfirm = (home: SqlClient) => {
  let ids: ReadonlyMap<string, string | null> | undefined
  const refreshIds = Effect.tap(readCellIds(home), (idOf) =>
    Effect.sync(() => {
      ids = idOf
    })
  )
  return ({ name, sql }: Pick<OpenCell, "name" | "sql">): Effect.Effect<void, StoreUnavailable> =>
    Effect.gen(function* () {
      const self = yield* Effect.mapError(runRead(readLabels(sql)), (error) =>
        isDenied(error.cause) ? new StoreUnavailable({ cause: error.cause, remedy: `${deniedRemedy(name)}.` }) : error
      )
      const labels = self.map((row) => row.name)
      if ((self[0]?.n ?? 0) < PACKAGE_MIGRATIONS.length)
        return yield* new StoreUnavailable({
          remedy: `The cell ${name} has an older schema than this program needs, or no schema. Run workshop migrate with the same --cells.`
        })
      const idsByName = ids ?? (name === HOME_CELL ? new Map() : yield* refreshIds)
      if (labelMismatch(name, idsByName.get(name) ?? null, labels) === null) return
      const remedy = labelMismatch(name, (yield* refreshIds).get(name) ?? null, labels)
      if (remedy !== null) return yield* new StoreUnavailable({ remedy: `${remedy}.` })
    }).pipe(Effect.catchTag("DatabaseFailed", (cause) => new StoreUnavailable({ cause })))
}

const checkOne = ({ name, schema, sql }: OpenCell, home: OpenCell, id: string | null) =>
  Effect.gen(function* () {
    yield* checkOn(sessionOf(sql), schema).pipe(
      Effect.catchAll((error) =>
        error._tag === "DatabaseFailed"
          ? Effect.fail(error)
          : wrongCellRefusal(
              `The cell ${name} cannot be used (${error.message.replace(/\.$/, "")}). Check the cell's address, and run workshop migrate with the same --cells`
            )
      )
    )
    const labels = (yield* readLabels(sql)).map((row) => row.name)
    const why = labelMismatch(name, id, labels)
    if (why !== null) return yield* wrongCellRefusal(why)
    const [storedCount] = yield* sql<{
      readonly n: number
    }>`select /* workshop shops here */ count(*)::integer as n from workshop.shop`
    const [placedCount] = yield* home.sql<{
      readonly n: number
    }>`select /* workshop shops placed */ count(*)::integer as n from workshop.shop_cell where cell = ${name}`
    if (storedCount!.n > placedCount!.n)
      return yield* wrongCellRefusal(
        `The cell ${name} has more shops (${storedCount!.n}) than the directory in the home cell placed in it (${placedCount!.n}), as if only one of the two was restored from a backup. Restore the home cell and the cell ${name} from backups of the same time`
      )
  })

const checkHome = ({ sql }: OpenCell, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const furtherName = yield* furtherCellName(sql)
    if (furtherName !== null)
      return yield* cellsRefusal(`The database is the cell ${furtherName} instead of the home cell`)
    yield* refuseOtherNames(sessionOf(sql).run, names)
    const [duplicate] = yield* sql<{
      readonly id: string
      readonly cell: string
    }>`select /* workshop shops placed elsewhere */ s.id, c.cell from workshop.shop_cell c join workshop.shop s on s.id = c.shop_id
      where c.cell <> ${HOME_CELL} limit 1`
    if (duplicate !== undefined)
      return yield* wrongCellRefusal(
        `The shop ${duplicate.id} is in two cells, ${HOME_CELL} and ${duplicate.cell}. Restore both cells from backups of the same time`
      )
  })

/**
 * Refuses cells that differ from the directory, have an older schema, or share a shop. Returns the names of the cells
 * that are unavailable; each is confirmed before its first use.
 */
export const checkCells = (cells: ReadonlyArray<OpenCell>) =>
  Effect.gen(function* () {
    const [home, ...others] = cells as readonly [OpenCell, ...ReadonlyArray<OpenCell>]
    const ofHome = yield* ignoreUnavailable(
      checkHome(
        home,
        cells.map(({ name }) => name)
      )
    )
    const ids = yield* Effect.orElseSucceed(readCellIds(home.sql), () => new Map<string, string | null>())
    const openChecks = Effect.forEach(
      others,
      (cell) => Effect.either(ignoreUnavailable(checkOne(cell, home, ids.get(cell.name) ?? null))),
      { concurrency: "unbounded" }
    )
    // Fails with the first refusal in the order of the cells, not in the order of time, so that the error is
    // deterministic.
    const otherResults = yield* Effect.flatMap(openChecks, (checks) => Effect.all(checks))
    const unavailable = [ofHome, ...otherResults].flatMap((why, i) =>
      why === null ? [] : [{ name: cells[i]!.name, why }]
    )
    // Cells that this role may not read are left out, because `makeConfirm` logs them with the remedy.
    const silentCells = unavailable.flatMap(({ name, why }) => (why === "silent" ? [name] : []))
    if (silentCells.length > 0)
      yield* Effect.logWarning(
        `${silentCells.length === 1 ? "The cell" : "The cells"} ${silentCells.join(", ")} ${silentCells.length === 1 ? "does" : "do"} not respond. Requests of the shops there are refused until ${silentCells.length === 1 ? "it responds" : "they respond"}`
      )
    return unavailable.map(({ name }) => name)
  })
