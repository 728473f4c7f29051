import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { cellsRefused, HOME } from "./CellPlaces.js"
import { DatabaseFailed } from "./migrate/DatabaseFailed.js"
import { refuseOtherNames } from "./migrate/MigratedCells.js"
import { checkOn } from "./migrate/Migrator.js"
import { sessionOf } from "./PgProbe.js"

const cellMarkedOn = (sql: SqlClient) =>
  Effect.map(
    sql<{ readonly name: string }>`select /* workshop name of cell */ name from workshop.mark where name like 'cell:%'`,
    ([found]) => found?.name.slice("cell:".length) ?? null
  )

/** A check that a database which does not answer passes: what is asked of it then fails. */
const ifThere = <E>(check: Effect.Effect<void, E>): Effect.Effect<void, Extract<E, DatabaseFailed>> =>
  Effect.catchAll(check, (error) =>
    error instanceof DatabaseFailed && error.reason === "bad_cells"
      ? Effect.fail(error as Extract<E, DatabaseFailed>)
      : Effect.void
  )

/** Refuses a database whose directory knows several cells, or that is itself a further cell, for a process that was given none. */
export const checkAlone = (sql: SqlClient) =>
  ifThere(
    Effect.gen(function* () {
      const marked = yield* cellMarkedOn(sql)
      if (marked !== null)
        return yield* cellsRefused(`The database is the cell ${marked} of another one, its home cell`)
      yield* refuseOtherNames(sessionOf(sql).run, [HOME])
    })
  )

/** A cell that is looked at. */
interface Looked {
  readonly name: string
  readonly schema: string
  readonly sql: SqlClient
}

const checkOne = ({ name, schema, sql }: Looked, home: Looked) =>
  Effect.gen(function* () {
    yield* checkOn(sessionOf(sql), schema).pipe(
      Effect.catchAll((error) =>
        error._tag === "DatabaseFailed"
          ? Effect.fail(error)
          : cellsRefused(`The cell ${name} cannot be used (${error.message})`)
      )
    )
    const marked = yield* cellMarkedOn(sql)
    if (marked !== name)
      return yield* cellsRefused(
        `Where the cell ${name} should be is ${marked === null ? "no cell" : `the cell ${marked}`}`
      )
    const [here] = yield* sql<{
      readonly n: number
    }>`select /* workshop shops here */ count(*)::integer as n from workshop.shop`
    const [there] = yield* home.sql<{
      readonly n: number
    }>`select /* workshop shops placed */ count(*)::integer as n from workshop.shop_cell where cell = ${name}`
    if (here!.n > there!.n)
      return yield* cellsRefused(
        `The cell ${name} has ${here!.n} shops, of which the directory placed ${there!.n} there: a shop may be in two cells, as after a restore. Restore the home cell and this one from the same time`
      )
  })

const checkHome = ({ sql }: Looked, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const marked = yield* cellMarkedOn(sql)
    if (marked !== null) return yield* cellsRefused(`The database is the cell ${marked}, and not the home cell`)
    yield* refuseOtherNames(sessionOf(sql).run, names)
    const [twice] = yield* sql<{
      readonly id: string
      readonly cell: string
    }>`select /* workshop shops placed elsewhere */ s.id, c.cell from workshop.shop_cell c join workshop.shop s on s.id = c.shop_id
      where c.cell <> ${HOME} limit 1`
    if (twice !== undefined)
      return yield* cellsRefused(
        `The shop ${twice.id} is in two cells, ${HOME} and ${twice.cell}: restore the cells from the same time`
      )
  })

/** Refuses cells that are not those of the directory, are behind, or share a shop. A cell that does not answer is left to its shops. */
export const checkCells = (cells: ReadonlyArray<Looked>) =>
  Effect.gen(function* () {
    const [home, ...others] = cells as readonly [Looked, ...ReadonlyArray<Looked>]
    yield* ifThere(
      checkHome(
        home,
        cells.map(({ name }) => name)
      )
    )
    const looks = Effect.forEach(others, (cell) => Effect.either(ifThere(checkOne(cell, home))), {
      concurrency: "unbounded"
    })
    // The first one in the order of the cells, whichever answered first.
    yield* Effect.flatMap(looks, (found) => Effect.all(found, { discard: true }))
  })
