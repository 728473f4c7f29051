import { Effect } from "effect"
import { databaseUrl } from "../connection/Address.js"
import { DatabaseFailed } from "../connection/DatabaseFailed.js"
import { checkedSchema, type Database, DEFAULT_SCHEMA } from "../connection/Schema.js"

/** One of several cells besides the home cell. */
export interface CellAddress {
  /** By which the directory knows it: letters, digits and underscores. */
  readonly name: string
  /** Another cluster's address; left out, the cell is a schema of the home cell's database. */
  readonly url?: string | undefined
}

/** Where a cell is. */
export interface CellPlaced {
  readonly name: string
  readonly url: string
  readonly schema: string
}

/** The cells that a command is given. */
export interface CellsGiven extends Pick<Database, "schema"> {
  /** The cells besides the home cell; none where it is the only one. */
  readonly cells?: ReadonlyArray<CellAddress> | undefined
}

/** The name of the home cell, which is the first. */
export const HOME = "home"

const NAME = /^[a-z][a-z0-9_]{0,30}$/

const MOST_CELLS = 1_000

/** A refusal of cells, whose remedy follows. */
export const cellsRefused = (what: string) => new DatabaseFailed({ reason: "bad_cells", code: undefined, what })

/** A refusal of one cell, with its remedy. */
export const cellWrong = (what: string) => new DatabaseFailed({ reason: "wrong_cell", code: undefined, what })

/** A failure of a cell's database, which names the cell. The remedies of the home cell's address do not fit others. */
export const ofCell =
  ({ name }: Pick<CellPlaced, "name">) =>
  (error: DatabaseFailed): DatabaseFailed => {
    if (name === HOME || error.reason === "wrong_cell" || error.reason === "bad_cells") return error
    const what = error.what.replace(/^The database\b/, `The cell ${name}`)
    return error.reason === "statement"
      ? cellWrong(`The cell ${name} refused a statement (${what}): see that the server runs that keeps it`)
      : cellWrong(`${what}: check that its server runs, and its address in --cells`)
  }

/**
 * Reads the setting of `--cells`: a number of cells in all, which are schemas of one database, or names between spaces, each alone or with
 * the address of its cluster, such as `north=postgres://…`.
 */
export const cellsFrom = (text: string): Effect.Effect<ReadonlyArray<CellAddress>, DatabaseFailed> =>
  Effect.suspend(() => {
    const words = text.split(/\s+/).filter((word) => word !== "")
    const [first = ""] = words
    if (words.length === 1 && /^\d+$/.test(first)) {
      const count = Number(first)
      if (count < 1 || count > MOST_CELLS) return cellsRefused(`There cannot be ${first} cells, but 1 to ${MOST_CELLS}`)
      return Effect.succeed(Array.from({ length: count - 1 }, (_, i) => ({ name: `cell_${i + 1}` })))
    }
    return Effect.succeed(
      words.map((word) => {
        const [name = "", ...url] = word.split("=")
        return url.length === 0 ? { name } : { name, url: url.join("=") }
      })
    )
  })

/** Where all cells are, the home cell first. Refuses names that are no names, and two cells that are one. */
export const placesOf = (
  home: Database,
  further: ReadonlyArray<CellAddress>
): Effect.Effect<ReadonlyArray<CellPlaced>, DatabaseFailed> =>
  Effect.gen(function* () {
    const schema = yield* checkedSchema(home.schema ?? DEFAULT_SCHEMA)
    const places = [{ name: HOME, url: home.url, schema }]
    for (const { name, url } of further) {
      if (!NAME.test(name))
        return yield* cellsRefused(
          `${JSON.stringify(name.slice(0, 40))} is no name of a cell, which is 1 to 31 small letters, digits and underscores and begins with a letter`
        )
      if (places.some((place) => place.name === name))
        return yield* cellsRefused(
          name === HOME ? `The name ${HOME} is that of the first cell` : `Two cells have the name ${name}`
        )
      if (url !== undefined) yield* databaseUrl(url)
      const place = { name, url: url ?? home.url, schema: url === undefined ? `${schema}_${name}` : schema }
      const same = places.find((known) => known.url === place.url && known.schema === place.schema)
      if (same !== undefined) return yield* cellsRefused(`The cells ${same.name} and ${name} are in the same place`)
      yield* checkedSchema(place.schema)
      places.push(place)
    }
    return places
  })
