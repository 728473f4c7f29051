import { createReadStream, type ReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import type { ImportLine } from "@workshop/core"
import { parse } from "csv-parse"

/** How a file holds rows. */
export const FORMATS = ["csv", "jsonl"] as const
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number]

/** The columns of a CSV file, named as the fields of a row; a dot leads into a field of a field. */
export const COLUMNS = [
  ...["external_ref", "number", "state", "outcome", "type", "service", "item", "description"],
  ...["price_minor", "deposit_minor", "before_minor", "promised_at", "created_at", "ready_at", "collected_at"],
  ...["abandoned_at", "abandon_reason", "notified_at", "notified_channel", "created_via", "photo_url", "client_phone"],
  ...["client.phone", "client.given_name", "client.family_name", "client.hide_name"],
  ...["client.card.balance", "client.card.lifetime", "client.card.rewards_redeemed"],
  ...["items", "quote", "delay", "part"]
] as const

const NUMBERS = /^(number|(price|deposit|before)_minor|client\.card\..*)$/
const JSON_CELLS = /^(items|quote|delay|part)$/

type Fields = Record<string, unknown>

/** The value of a cell; a text that is not what the column holds stays as it is, and is refused with the row. */
const cellValue = (column: string, cell: string): unknown => {
  // A price such as 12.50 or 12,50 is a number too, and refused because it is not whole.
  if (NUMBERS.test(column)) return /^-?\d{1,15}([.,]\d{1,9})?$/.test(cell) ? Number(cell.replace(",", ".")) : cell
  if (column === "client.hide_name") return cell === "true" ? true : cell === "false" ? false : cell
  if (!JSON_CELLS.test(column)) return cell
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

/** The row that cells are, without those that are empty. */
export const rowOfCells = (cells: Readonly<Record<string, string>>): Fields => {
  const row: Fields = {}
  for (const [column, cell] of Object.entries(cells)) {
    if (cell === "") continue
    const path = column.split(".")
    const last = path.pop()!
    let place = row
    for (const name of path) {
      place[name] ??= {}
      place = place[name] as Fields
    }
    place[last] = cellValue(column, cell)
  }
  return row
}

/** The cell of a value. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

const at = (row: unknown, column: string): unknown =>
  column.split(".").reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], row)

/** The line of a row in a file. */
export const lineOfRow = (row: object, format: Format): string =>
  format === "jsonl" ? JSON.stringify(row) : COLUMNS.map((column) => cellOf(at(row, column))).join(",")

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function* jsonLines(source: NodeJS.ReadableStream): AsyncGenerator<ImportLine> {
  let line = 0
  for await (const text of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (text.trim() === "") continue
    try {
      yield { line, row: JSON.parse(line === 1 ? text.replace(/^\uFEFF/, "") : text) }
    } catch {
      yield { line, unreadable: "is no JSON object: each line holds one" }
    }
  }
}

interface CsvRecord {
  readonly record: Readonly<Record<string, string>>
  readonly info: { readonly lines: number }
}

/** The separator of the columns, by their names in the first line: a comma, or a semicolon where numbers have commas, or a tab. */
const separatorOf = (names: string): string =>
  names.includes(",") ? "," : ([";", "\t"].find((separator) => names.includes(separator)) ?? ",")

const MOST_OF_HEAD = 64 * 1024

async function* csvLines(source: NodeJS.ReadableStream): AsyncGenerator<ImportLine> {
  const chunks = source.setEncoding("utf8")[Symbol.asyncIterator]()
  let head = ""
  for (let isOver: boolean | undefined = false; !isOver && !head.includes("\n") && head.length < MOST_OF_HEAD; ) {
    const { done, value } = await chunks.next()
    isOver = done
    head += value ?? ""
  }
  const whole = Readable.from(
    (async function* () {
      yield head
      yield* { [Symbol.asyncIterator]: () => chunks }
    })()
  )
  const delimiter = separatorOf(head.split("\n")[0]!)
  const parser = parse({ delimiter, columns: true, info: true, bom: true, skip_empty_lines: true, trim: true })
  whole.once("error", (error) => parser.destroy(error))
  const records: AsyncIterable<CsvRecord> = whole.pipe(parser)
  let line = 1
  try {
    for await (const { record, info } of records) {
      line = info.lines
      yield { line, row: rowOfCells(record) }
    }
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") throw error
    yield {
      line: (error as { lines?: number }).lines ?? line + 1,
      unreadable: `is no row of the file: ${messageOf(error)}`
    }
  }
}

/** The rows of a file, with their lines; `-` is standard input. */
export const readRows = (file: string, format: Format) => {
  const source: NodeJS.ReadableStream & Partial<Pick<ReadStream, "bytesRead">> =
    file === "-" ? process.stdin : createReadStream(file)
  return {
    lines: format === "csv" ? csvLines(source) : jsonLines(source),
    /** How much of the file was read, in bytes. */
    bytesRead: () => source.bytesRead ?? 0
  }
}
