import { editDistance } from "@workshop/core/internal"
import type { Column } from "@workshop/core/internal/terminal"
import type { CellMoveResult, CellStatus } from "@workshop/store-pg/migrate"
import { Effect, type Scope } from "effect"
import type { CommandRefused } from "../CommandRefused.js"
import { actorFlag, withActor } from "../terminal/actor.js"
import { command, jsonFlag, optionalFlag, type Values, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { type Output, printOutput, rowsOutput, sentenceOutput } from "../terminal/Output.js"
import { group, Operand } from "../terminal/program.js"
import {
  cellsFlag,
  choiceOf,
  databaseUrlFlag,
  databaseUrlOf,
  schemaFlag,
  servedDataDir,
  storeRefusal
} from "./StoreChoice.js"

const cellOptions = {
  databaseUrl: databaseUrlFlag(
    "The home cell's Postgres database. The default is the embedded Postgres in --data-dir."
  ),
  schema: schemaFlag,
  dataDir: servedDataDir,
  actor: actorFlag,
  json: jsonFlag
}

/** Runs an operation on the cells of a database, and prints its result. */
const runOnCells = (
  { actor, json, ...flags }: Values<typeof cellOptions>,
  run: (
    url: string,
    options: { readonly schema: string | undefined }
  ) => Effect.Effect<Output, { readonly message: string }, Scope.Scope>
): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    const url = yield* databaseUrlOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
    const output = yield* Effect.mapError(run(url, { schema: flags.schema ?? undefined }), storeRefusal)
    yield* printOutput(output, json)
  }).pipe(Effect.scoped, withActor(actor))

const migrateModule = Effect.promise(() => import("@workshop/store-pg/migrate"))
const cellsFrom = (text: string) =>
  Effect.flatMap(
    Effect.promise(() => import("@workshop/store-pg")),
    (store) => store.parseCells(text)
  )

const columns: ReadonlyArray<Column<CellStatus>> = [
  { title: "CELL", cell: ({ name }) => name, isWhole: true },
  { title: "SCHEMA", cell: ({ schema }) => schema },
  { title: "NODE", cell: ({ node }) => node, isWhole: true },
  { title: "SHOPS", cell: ({ shops }) => String(shops), align: "right" },
  { title: "NEW SHOPS", cell: ({ takes_shops }) => (takes_shops ? "yes" : "no") },
  { title: "STATE", cell: ({ state }) => state }
]

const list = command({
  name: "list",
  description: "List each cell's location, its number of shops and whether it can be used",
  examples: ["workshop cell list", "workshop cell list --cells 'north=postgres://db1.example.com/workshop' --json"],
  options: { ...cellOptions, cells: cellsFlag },
  run: ({ cells, ...flags }) =>
    runOnCells(flags, (url, options) =>
      Effect.gen(function* () {
        const statuses = yield* (yield* migrateModule).listCells(url, {
          ...options,
          cells: yield* cellsFrom(cells ?? "")
        })
        return rowsOutput(statuses, columns, "There are no cells.")
      })
    )
})

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const moveInWords = ({ name, from, to, took_ms, longest_pause_ms }: CellMoveResult): string =>
  from === to
    ? `The cell ${name} is on ${to} already.`
    : `The cell ${name} moved from ${from} to ${to} in ${formatSeconds(took_ms)}. Writes to the cell paused for at most ${longest_pause_ms} ms.`

const move = command({
  name: "move",
  description: "Move a cell to another Citus worker while it stays in use",
  examples: ["workshop cell move cell_3 db2.example.com:5432"],
  options: {
    ...cellOptions,
    cell: new Operand<string>("<cell>", "The name of the cell."),
    node: new Operand<string>("<host:port>", "The Citus worker to move the cell to, as host:port.")
  },
  run: ({ cell, node, ...flags }) =>
    runOnCells(flags, (url, options) =>
      Effect.gen(function* () {
        const result = yield* (yield* migrateModule).moveCell(url, { ...options, name: cell, node })
        return sentenceOutput(result, moveInWords(result))
      })
    )
})

const balance = command({
  name: "balance",
  description: "Distribute the cells evenly among the workers with Citus' rebalancer",
  examples: ["workshop cell balance", "workshop cell balance --json"],
  options: cellOptions,
  run: (flags) =>
    runOnCells(flags, (url, options) =>
      Effect.gen(function* () {
        const moves = yield* (yield* migrateModule).balanceCells(url, options)
        return {
          data: moves,
          lines: () =>
            moves.length === 0 ? ["The cells are already balanced among the workers."] : moves.map(moveInWords)
        }
      })
    )
})

/** The number at the end of a name and the text before it; undefined if the name does not end with a number. */
const splitNumber = (name: string) => {
  const trailingDigits = /\d{1,9}$/.exec(name)
  return trailingDigits === null
    ? undefined
    : { stem: name.slice(0, trailingDigits.index), number: Number(trailingDigits[0]) }
}

/** The next name in a series such as `cell1`, `cell2`; undefined if the names are not such a series. */
const nextNameOf = (names: ReadonlyArray<string>): string | undefined => {
  const parts = names.flatMap((name) => splitNumber(name) ?? [])
  const stems = new Set(parts.map(({ stem }) => stem))
  if (names.length === 0 || parts.length < names.length || stems.size > 1) return undefined
  return `${[...stems][0]}${Math.max(...parts.map(({ number }) => number)) + 1}`
}

/** The warning that the name of a new cell may be a typing error; null if nothing suggests that. */
const typoWarningOf = (name: string, hasAddress: boolean, names: ReadonlyArray<string>): string | null => {
  const next = hasAddress ? undefined : nextNameOf(names)
  if (next !== undefined)
    return name === next
      ? null
      : `The cells are numbered, and the next name would be ${next}. ${name} may be a typing error, and a cell cannot be renamed.`
  const nearestName = names.find((one) => editDistance(one, name) === 1 && nextNameOf([one, name]) === undefined)
  return nearestName === undefined
    ? null
    : `There is already a cell ${nearestName}. ${name} may be a typing error, and a cell cannot be renamed.`
}

const add = command({
  name: "add",
  description: "Add a cell, in which the next new shops are created",
  examples: ["workshop cell add cell_4", "workshop cell add south --address postgres://db2.example.com/workshop"],
  options: {
    ...cellOptions,
    address: optionalFlag(
      "--address <url>",
      "The address of the cell's own cluster. Without an address, the cell is a schema of the home cell's database."
    ),
    cell: new Operand<string>("<cell>", "A name for the cell: lower-case letters, digits and underscores."),
    yes: yesFlag
  },
  run: ({ cell, address, yes, ...flags }) =>
    runOnCells(flags, (url, options) =>
      Effect.gen(function* () {
        const confirmName = (names: ReadonlyArray<string>) => {
          const typoWarning = typoWarningOf(cell, address !== null, names)
          return typoWarning === null ? Effect.void : confirm(typoWarning, yes)
        }
        const cellToAdd = { name: cell, url: address ?? undefined }
        const { schema } = yield* (yield* migrateModule).addCell(url, cellToAdd, { ...options, confirm: confirmName })
        const text = `The cell ${cell} is added, in the schema ${schema}${address === null ? "" : " of its own cluster"}. If the name is wrong, run workshop cell remove ${cell} now, while it has no shops. If the processes connect as workshop_service or workshop_reader, run workshop migrate --roles with the same --cells, because these roles may not read the new cell yet. Then restart every process with the new cell in --cells. Until it is restarted, a process refuses requests of the shops in that cell.`
        return sentenceOutput({ name: cell }, text)
      })
    )
})

const remove = command({
  name: "remove",
  description: "Remove a cell that has no shops, for example one whose name was misspelt",
  examples: ["workshop cell remove nine"],
  options: { ...cellOptions, cell: new Operand<string>("<cell>", "The name of the cell.") },
  run: ({ cell, ...flags }) =>
    runOnCells(flags, (url, options) =>
      Effect.gen(function* () {
        const { name, schema } = yield* (yield* migrateModule).removeCell(url, cell, options)
        const text = `The cell ${name} is removed. Remove it from --cells, and restart every process. The cell's tables are kept. If they are in this database, you can delete them with "drop schema ${schema} cascade".`
        return sentenceOutput({ name }, text)
      })
    )
})

/** `workshop cell`: lists and changes the cells, the databases or schemas among which shops are divided. */
export const cellCommand = group(
  { name: "cell", examples: ["workshop cell list", "workshop cell move cell_3 db2.example.com:5432"] },
  [list, move, balance, add, remove]
)
