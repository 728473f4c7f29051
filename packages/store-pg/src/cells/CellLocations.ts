import { Effect } from "effect"
import { databaseUrl } from "../connection/Address.js"
import { DatabaseFailed } from "../connection/DatabaseFailed.js"
import { checkedSchema, type Database, DEFAULT_SCHEMA } from "../connection/Schema.js"

/** A cell other than the home cell. */
export interface CellAddress {
  /** The name in the directory: letters, digits and underscores. */
  readonly name: string
  /** The address of another cluster. By default, the cell is a schema of the home cell's database. */
  readonly url?: string | undefined
}

/** The location of a cell: a database and a schema. */
export interface CellLocation {
  /** The cell's name in the directory; `home` for the home cell. */
  readonly name: string
  /** The connection string of the cell's database. */
  readonly url: string
  /** The schema with the cell's tables. */
  readonly schema: string
}

/** The options of a command that name its cells. */
export interface CellOptions extends Pick<Database, "schema"> {
  /** The cells other than the home cell; none by default. */
  readonly cells?: ReadonlyArray<CellAddress> | undefined
}

/** The name of the home cell. */
export const HOME_CELL = "home"

const NAME = /^[a-z][a-z0-9_]{0,30}$/

const MAX_CELLS = 1_000

/** A refusal of a list of cells. `DatabaseFailed` adds the remedy. */
export const cellsRefusal = (what: string) => new DatabaseFailed({ reason: "bad_cells", code: undefined, what })

/** A refusal of one cell, whose text includes the remedy. */
export const wrongCellRefusal = (what: string) => new DatabaseFailed({ reason: "wrong_cell", code: undefined, what })

/** Adds the cell's name to an error of its database, because the remedies for the home cell's url do not apply. */
export const cellFailure =
  ({ name }: Pick<CellLocation, "name">) =>
  (error: DatabaseFailed): DatabaseFailed => {
    if (name === HOME_CELL || error.reason === "wrong_cell" || error.reason === "bad_cells") return error
    const what = error.what.replace(/^The database\b/, `The cell ${name}`)
    return error.reason === "statement"
      ? wrongCellRefusal(`The cell ${name} refused a statement (${what}). Check that its server is running`)
      : wrongCellRefusal(`${what}. Check that its server is running, and that --cells has its address`)
  }

/**
 * Parses the value of `--cells`: the number of all cells, which are schemas of one database, or names separated by spaces, each alone or
 * with the address of its cluster, such as `north=postgres://…`.
 */
export const parseCells = (text: string): Effect.Effect<ReadonlyArray<CellAddress>, DatabaseFailed> =>
  Effect.suspend(() => {
    const words = text.split(/\s+/).filter((word) => word !== "")
    const [first = ""] = words
    if (words.length === 1 && /^\d+$/.test(first)) {
      const count = Number(first)
      if (count < 1 || count > MAX_CELLS)
        return cellsRefusal(`The number of cells must be from 1 to ${MAX_CELLS}, and not ${first}`)
      return Effect.succeed(Array.from({ length: count - 1 }, (_, i) => ({ name: `cell_${i + 1}` })))
    }
    return Effect.succeed(
      words.map((word) => {
        const [name = "", ...url] = word.split("=")
        return url.length === 0 ? { name } : { name, url: url.join("=") }
      })
    )
  })

/** The locations of all cells, the home cell first. Refuses invalid names, and two cells with the same name or location. */
export const locateCells = (
  home: Database,
  furtherCells: ReadonlyArray<CellAddress>
): Effect.Effect<ReadonlyArray<CellLocation>, DatabaseFailed> =>
  Effect.gen(function* () {
    const schema = yield* checkedSchema(home.schema ?? DEFAULT_SCHEMA)
    const locations = [{ name: HOME_CELL, url: home.url, schema }]
    for (const { name, url } of furtherCells) {
      if (!NAME.test(name))
        return yield* cellsRefusal(
          `${JSON.stringify(name.slice(0, 40))} is not a valid name for a cell. A name has 1 to 31 lower-case letters, digits and underscores, and begins with a letter`
        )
      if (locations.some((location) => location.name === name))
        return yield* cellsRefusal(
          name === HOME_CELL ? `The name ${HOME_CELL} is reserved for the home cell` : `Two cells have the name ${name}`
        )
      if (url !== undefined) yield* databaseUrl(url)
      const location = { name, url: url ?? home.url, schema: url === undefined ? `${schema}_${name}` : schema }
      const duplicate = locations.find((earlier) => earlier.url === location.url && earlier.schema === location.schema)
      if (duplicate !== undefined)
        return yield* cellsRefusal(`The cells ${duplicate.name} and ${name} have the same address and schema`)
      yield* checkedSchema(location.schema)
      locations.push(location)
    }
    return locations
  })
