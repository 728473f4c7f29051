import { statSync } from "node:fs"
import { type BadRow, type ImportLine, type ImportReport, Imports, ShopId } from "@workshop/core"
import { pluralize } from "@workshop/core/internal/terminal"
import { Console, Effect, Option } from "effect"
import { type CommandRefused, refuse, toCommandRefused } from "../CommandRefused.js"
import { idFrom, ownerCommand } from "../owner/ownerCommand.js"
import { flagsOf, jsonFlag, optionalFlag } from "../terminal/commands.js"
import { oneOf } from "../terminal/decoders.js"
import { type Output, printOutput } from "../terminal/Output.js"
import { Operand } from "../terminal/program.js"
import { importProgress } from "./importProgress.js"
import { fileRefusal, RowsUnreadable } from "./rowSource.js"
import { type FileFormat, FORMATS, readRows } from "./rows.js"

/** The flags that an import and an export share. */
export const shopOption = optionalFlag("--shop <id>", "The shop's id.", { variable: "WORKSHOP_TRANSFER_SHOP" })

/** The format that a flag or the extension of a file names. */
export const formatOf = (format: FileFormat | null, file: string): Effect.Effect<FileFormat, CommandRefused> => {
  if (format !== null) return Effect.succeed(format)
  if (/\.csv$/i.test(file)) return Effect.succeed("csv")
  if (/\.(jsonl|ndjson)$/i.test(file)) return Effect.succeed("jsonl")
  return refuse(`The format of ${file} cannot be told from its name. Add --format csv or --format jsonl.`)
}

/** The flag that names the format of a file. */
export const formatOption = optionalFlag(
  "--format <format>",
  "The format of the file. The default follows from its extension.",
  { ...oneOf(FORMATS), variable: "WORKSHOP_TRANSFER_FORMAT" }
)

/** The size of a file; 0 if it is unknown, as for standard input or a pipe. */
const sizeOf = (file: string): Effect.Effect<number, CommandRefused> => {
  if (file === "-") return Effect.succeed(0)
  return Effect.try({
    try: () => {
      const stat = statSync(file)
      if (stat.isDirectory()) throw Object.assign(new Error("The path is a folder"), { code: "EISDIR" })
      return stat.isFile() ? stat.size : 0
    },
    catch: (error) => toCommandRefused(fileRefusal(file, error))
  })
}

/** The lines of a file, counted as they are read. */
const countLines = (source: AsyncIterable<ImportLine>) => {
  let rowCount = 0
  let cutAt: number | null = null
  const lines = (async function* () {
    for await (const line of source) {
      rowCount++
      if ("unreadable" in line && line.cut_short === true) cutAt = line.line
      yield line
    }
  })()
  return {
    /** The iterator has no `return`, so that the import cannot close it before the remaining rows are counted. */
    lines: { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) },
    /** The first line that cannot be read. */
    cutAt: () => cutAt,
    /** The number of rows after the first `rows`; null if they cannot be read. */
    rowsAfter: async (rows: number): Promise<number | null> => {
      for await (const _ of lines);
      return cutAt === null ? rowCount - rows : null
    }
  }
}

const issuesOf = ({ line, external_ref, issues }: BadRow): string =>
  `line ${line}${external_ref === null ? "" : ` (${external_ref})`}: ${issues.map(({ field, message }) => `${field} ${message}`).join("; ")}`

/** The report of the command. It adds how many rows of the file follow the row at which the import stopped. */
interface FileReport extends ImportReport {
  /** The rows after `stopped_at`, which were neither checked nor imported; null if they cannot be counted. */
  readonly not_read: number | null
}

const stopOf = ({ stopped_at, not_read, dry_run }: FileReport): ReadonlyArray<string> => {
  if (stopped_at === null) return []
  const rest =
    not_read === null
      ? "the rest of the file was"
      : `${pluralize(not_read, "row")} after it ${not_read === 1 ? "was" : "were"}`
  return [`Stopped at line ${stopped_at}: ${rest} not ${dry_run ? "checked" : "imported"}.`]
}

const summaryOf = (report: FileReport): ReadonlyArray<string> => {
  const { tickets, clients, cards, already, bad, closing, dry_run } = report
  return [
    `${dry_run ? "Would import" : "Imported"} ${pluralize(tickets, "ticket")}, ${pluralize(clients, "client")} and ${pluralize(cards, "loyalty card")}.`,
    ...stopOf(report),
    ...(already === 0
      ? []
      : [
          `${pluralize(already, "ticket")} of the file already ${already === 1 ? "exists" : "exist"} and ${already === 1 ? "is" : "are"} not changed.`
        ]),
    ...(closing === 0
      ? []
      : [
          dry_run
            ? `${pluralize(closing, "ticket")} would be closed at once, because the ${closing === 1 ? "client has" : "clients have"} not collected ${closing === 1 ? "it" : "them"} in time.`
            : `${pluralize(closing, "ticket")} ${closing === 1 ? "was" : "were"} not collected in time, so a running service closes ${closing === 1 ? "it" : "them"} now.`
        ]),
    ...(bad === 0 ? [] : [`${pluralize(bad, "row")} ${bad === 1 ? "is" : "are"} invalid:`])
  ]
}

const outputOf = (report: FileReport): Output => ({
  data: report,
  lines: ({ paint }) => [...summaryOf(report), ...report.bad_rows.map((row) => paint("warn", issuesOf(row)))]
})

/** The message about a run that skipped bad rows. */
const skippedRowsMessage = ({ bad, dry_run, stopped_at }: ImportReport, given: BadRows): string =>
  stopped_at !== null
    ? `The file cannot be read from line ${stopped_at} on. Correct the rows listed above, and repeat the import, which does not change tickets that are already there.`
    : dry_run
      ? `${pluralize(bad, "row")} of the file cannot be imported. Correct the rows listed above. ${given === "skip" ? `An import with --bad-rows skip omits ${bad === 1 ? "it" : "them"}` : "Without --bad-rows skip, an import stops at the first invalid row"}.`
      : `${pluralize(bad, "row")} of the file ${bad === 1 ? "was" : "were"} not imported. Correct the rows listed above, and repeat the import, which does not change tickets that are already there.`

const own = flagsOf("import")

const BAD_ROWS = ["stop", "skip"] as const
type BadRows = (typeof BAD_ROWS)[number]

/** `workshop import` (docs/import.md): imports tickets from another system. */
export const importCommand = ownerCommand({
  name: "import",
  examples: [
    "workshop import tickets.csv --shop 0197... --dry-run",
    "workshop import tickets.jsonl --shop 0197... --bad-rows skip"
  ],
  options: {
    file: new Operand<string>(
      "<file>",
      "A file with one ticket or client per row, as CSV or JSON lines. - means standard input."
    ),
    shop: shopOption,
    format: formatOption,
    dryRun: own.toggle("dry-run", "Check and report every row, without writing anything."),
    badRows: own.value("--bad-rows <how>", "What to do with an invalid row: stop the import there, or skip the row.", {
      ...oneOf(BAD_ROWS),
      fallback: "stop"
    }),
    events: own.toggle("events", "Raise an event ticket.created for each imported ticket."),
    json: jsonFlag
  },
  run: ({ file, shop, format: given, dryRun, badRows, events, json: asJson }) =>
    Effect.gen(function* () {
      const shop_id = yield* idFrom(ShopId, "the shop", shop)
      const format = yield* formatOf(given, file)
      const size = yield* sizeOf(file)
      const { lines: rows, bytesRead } = readRows(file, format)
      const onProgress = importProgress(size, bytesRead, process.stderr)
      // A dry run checks every row, so that one run finds all errors.
      const effect = dryRun ? "skip" : badRows
      const { lines, cutAt, rowsAfter } = countLines(rows)
      const imported = yield* Imports.run(shop_id, { lines, dryRun, badRows: effect, events, onProgress })
      // The import does not read the rows after the row at which it stopped, so this command reads them to count them.
      const not_read = imported.stopped_at === null ? 0 : yield* Effect.promise(() => rowsAfter(imported.rows))
      const report: FileReport = { ...imported, not_read }
      if (onProgress !== undefined) process.stderr.write("\n")
      if (report.bad > 0 && effect === "skip") {
        yield* printOutput(outputOf(report), asJson)
        return yield* refuse(skippedRowsMessage(report, badRows))
      }
      if (report.stopped_at === null) return outputOf(report)
      if (asJson) yield* Console.log(JSON.stringify(report, null, 2))
      else yield* Console.log(summaryOf({ ...report, bad: 0 }).join("\n"))
      // If the file itself cannot be read further, the report of the row says so, and skipping the row does not help.
      const advice =
        cutAt() === report.stopped_at
          ? ""
          : " No row after the invalid one was imported. Correct the row and repeat the import, which does not change tickets that are already there, or add --bad-rows skip."
      const message = `${report.bad_rows.map(issuesOf).join("; ")}.${advice}`
      return yield* refuse(message.charAt(0).toUpperCase() + message.slice(1))
    }).pipe(
      Effect.catchSomeDefect((defect) =>
        defect instanceof RowsUnreadable ? Option.some(toCommandRefused(defect)) : Option.none()
      )
    )
})
