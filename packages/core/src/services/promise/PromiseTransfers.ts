import { Effect, Exit, Option, Schema, Scope, Stream } from "effect"
import type { ImportRow } from "../../decisions/importTickets.js"
import { ShopId } from "../../domain/Identifier.js"
import { InvalidInput } from "../../domain/InvalidInput.js"
import {
  acceptAny,
  findOptionRefusal,
  mustBeBoolean,
  mustBeFunction,
  type OptionChecks
} from "../../domain/OptionChecks.js"
import type { ShopNotFound } from "../../domain/Shop.js"
import type { StoreUnavailable } from "../../ports/StorePorts.js"
import { type ImportLine, type ImportOptions, type ImportReport, Imports } from "../Imports.js"
import { type RunEffect, toPromise, withoutUndefined } from "./toPromise.js"

/** A row of an import: a ticket with its client, or only a client. */
export interface PlainImportRow extends Schema.Schema.Encoded<typeof ImportRow> {}

/** The rows of an import. */
export type PlainImportRows = Iterable<PlainImportRow> | AsyncIterable<PlainImportRow>

/** The options of an import, as plain values. */
export type PlainImport = Omit<ImportOptions, "lines"> &
  (
    | {
        /**
         * The rows in order; the report numbers them from 1. If the source throws, the import rejects with the number
         * of the row; earlier rows may have been written.
         */
        readonly rows: PlainImportRows
      }
    | {
        /** The rows of a file with their lines, such as the result of `readRows` of `@workshop/cli/rows`. */
        readonly lines: ImportOptions["lines"]
      }
  )

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The rows with their numbers. If the source throws, the error has the number of the row that was read. */
async function* numberRows(rows: PlainImportRows): AsyncGenerator<ImportLine> {
  let line = 1
  try {
    for await (const row of rows) yield { line: line++, row: withoutUndefined(row) }
  } catch (cause) {
    throw new Error(`The source of the rows failed at row ${line}: ${messageOf(cause)}`, { cause })
  }
}

/** The check of each option of an import. The rows are checked separately, one by one. */
const importOptions = {
  rows: acceptAny,
  lines: acceptAny,
  dryRun: mustBeBoolean,
  badRows: (value) => (value === "stop" || value === "skip" ? undefined : "must be stop or skip"),
  events: mustBeBoolean,
  onProgress: mustBeFunction
} as const satisfies OptionChecks

type ImportEffect = Effect.Effect<ImportReport, InvalidInput | ShopNotFound | StoreUnavailable, Imports>

const isIterable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)

/** Imports and exports tickets. */
export const promiseTransfers = (run: RunEffect<Imports>) => {
  const method = toPromise(run)
  /** Returns an effect that reads the next page at each run, or none after the last page. */
  const openPages = method([ShopId, Schema.Any], (shop_id, scope: Scope.Scope) =>
    Effect.map(Scope.extend(Effect.flatMap(Imports.exported(shop_id), Stream.toPull), scope), (pull) =>
      Effect.catchAll(Effect.asSome(pull), Option.match({ onNone: () => Effect.succeedNone, onSome: Effect.fail }))
    )
  )
  const importRows = method([ShopId, Schema.Any], (shop_id, options: PlainImport): ImportEffect => {
    const refused = findOptionRefusal("import", options, importOptions)
    if (refused !== null)
      return Effect.fail(new InvalidInput({ issues: [{ field: refused.option, message: refused.message }] }))
    const field = "lines" in options ? "lines" : "rows"
    if (!isIterable(options[field as keyof PlainImport]))
      return Effect.fail(new InvalidInput({ issues: [{ field, message: "must be a list, or another iterable" }] }))
    return Imports.run(shop_id, { ...options, lines: "lines" in options ? options.lines : numberRows(options.rows) })
  })
  return {
    /**
     * Imports tickets in any state with their dates, clients and cards. They count against no limit and raise no events unless `events` is
     * set. An import skips a ticket whose `external_ref` the shop has already, so you can repeat it.
     */
    import: (shop_id: string, options: PlainImport) => importRows(shop_id, options ?? {}),
    /**
     * All tickets of a shop, in the form that `import` accepts. If the shop does not exist, a loop over them throws the
     * refusal.
     */
    export: async function* (shop_id: string): AsyncGenerator<PlainImportRow> {
      const scope = Effect.runSync(Scope.make())
      try {
        const rowsScope = await openPages(shop_id, scope)
        if (!rowsScope.ok) throw rowsScope.refusal
        for (;;) {
          const page = await run(rowsScope.value)
          if (!page.ok) throw page.refusal
          if (Option.isNone(page.value)) return
          yield* page.value.value as Iterable<unknown> as Iterable<PlainImportRow>
        }
      } finally {
        await Effect.runPromise(Scope.close(scope, Exit.void))
      }
    }
  }
}
