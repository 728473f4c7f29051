import { open, rm } from "node:fs/promises"
import { Imports, ShopId } from "@workshop/core"
import { pluralize } from "@workshop/core/internal/terminal"
import { Console, Effect, Exit, Stream } from "effect"
import { refuse } from "../CommandRefused.js"
import { idFrom, ownerCommand } from "../owner/ownerCommand.js"
import { sentenceOutput } from "../terminal/Output.js"
import { Operand } from "../terminal/program.js"
import { formatOf, formatOption, shopOption } from "./ImportCommand.js"
import { COLUMNS, lineOfRow } from "./rows.js"

const STANDARD_OUTPUT = "-"

/**
 * Creates a file for lines. The file is removed if the export fails, so that the export can be repeated with the same
 * name.
 */
const createFile = (file: string) =>
  Effect.gen(function* () {
    const tryToWrite = <A>(work: () => Promise<A>) =>
      Effect.tryPromise({
        try: work,
        catch: (error) =>
          refuse(
            `${file} cannot be written (${(error as Error).message}). Give the name of a new file in a folder that exists.`
          )
      })
    // Only the owner may read the file, because it contains phone numbers.
    const handle = yield* Effect.acquireRelease(
      tryToWrite(() => open(file, "wx", 0o600)),
      (handle, exit) =>
        Effect.promise(async () => {
          await handle.close()
          if (Exit.isFailure(exit)) await rm(file, { force: true })
        })
    )
    return {
      write: (lines: ReadonlyArray<string>) =>
        tryToWrite(() => handle.appendFile(lines.map((line) => `${line}\n`).join(""))),
      end: tryToWrite(() => handle.close())
    }
  })

const standardOutput = {
  write: (lines: ReadonlyArray<string>) => Effect.forEach(lines, (line) => Console.log(line), { discard: true }),
  end: Effect.void
}

/** `workshop export` (docs/import.md): exports all tickets of a shop in the format of an import. */
export const exportCommand = ownerCommand({
  name: "export",
  examples: ["workshop export tickets.csv --shop 0197...", "workshop export tickets.jsonl --shop 0197..."],
  options: {
    file: new Operand<string>("<file>", "The file to write, which must not exist yet. - means standard output."),
    shop: shopOption,
    format: formatOption
  },
  run: ({ file, shop, format: given }) =>
    Effect.gen(function* () {
      const shop_id = yield* idFrom(ShopId, "the shop", shop)
      const format = yield* formatOf(given, file)
      const rows = yield* Imports.exported(shop_id)
      const { write, end } = file === STANDARD_OUTPUT ? standardOutput : yield* createFile(file)
      if (format === "csv") yield* write([COLUMNS.join(",")])
      let tickets = 0
      yield* Stream.runForEachChunk(rows, (page) => {
        tickets += page.length
        return write([...page].map((row) => lineOfRow(row, format)))
      })
      yield* end
      if (file === STANDARD_OUTPUT) return null
      const inFile = `${pluralize(tickets, "ticket")} ${tickets === 1 ? "is" : "are"} in ${file}`
      return sentenceOutput({ file, tickets }, `${inFile}, with the names and numbers of clients.`)
    }).pipe(Effect.scoped)
})
