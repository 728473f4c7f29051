import { finished } from "node:stream/promises"
import type { ImportLine } from "@workshop/core"
import { CsvError, type InfoRecord, parse } from "csv-parse"
import { type Chunks, fileSource, inputSource, type RowSource, streamSource } from "./rowSource.js"

/** The formats of a file of rows. */
export const FORMATS = ["csv", "jsonl"] as const satisfies ReadonlyArray<FileFormat>
/** The format of a file of rows: CSV, or one JSON object per line. */
export type FileFormat = "csv" | "jsonl"

/** The columns of a CSV file, named as the fields of a row; a dot separates a field from a field within it. */
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

/**
 * The number in a cell, or its text. A price such as 12.50 or 12,50 is read as a number, which the import refuses
 * because it is not whole. A price such as 15.00 must be refused too, because it would mean 15 minor units instead of
 * 1500, so it is read as NaN.
 */
const numberOf = (cell: string): unknown => {
  if (!/^-?\d{1,15}([.,]\d{1,9})?$/.test(cell)) return cell
  const number = Number(cell.replace(",", "."))
  return Number.isInteger(number) && /[.,]/.test(cell) ? Number.NaN : number
}

/** The value of a cell; a text that is invalid for the column is returned unchanged, and refused with the row. */
const cellValue = (column: string, cell: string): unknown => {
  if (NUMBERS.test(column)) return numberOf(cell)
  if (column === "client.hide_name") return cell === "true" ? true : cell === "false" ? false : cell
  if (!JSON_CELLS.test(column)) return cell
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

/** The row of the cells, without empty ones. */
export const rowOfCells = (cells: Readonly<Record<string, string>>): Fields => {
  const row: Fields = {}
  for (const [column, cell] of Object.entries(cells)) {
    if (cell === "") continue
    const path = column.split(".")
    const last = path.pop()!
    let parent = row
    for (const name of path) {
      parent[name] ??= {}
      parent = parent[name] as Fields
    }
    parent[last] = cellValue(column, cell)
  }
  return row
}

/** The cell of a value. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

const fieldAt = (row: unknown, column: string): unknown =>
  column.split(".").reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], row)

/** The line of a row in a file. */
export const lineOfRow = (row: object, format: FileFormat): string =>
  format === "jsonl" ? JSON.stringify(row) : COLUMNS.map((column) => cellOf(fieldAt(row, column))).join(",")

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * The largest number of characters of a row, far more than a ticket has. A longer row is refused, because the file is
 * of another kind and would be kept in memory as a whole.
 */
const MAX_ROW_CHARACTERS = 1024 * 1024
const MAX_ROW_SIZE = `${MAX_ROW_CHARACTERS / 1024 / 1024} MiB`

const TOO_LONG = `is longer than ${MAX_ROW_SIZE}, so no row from here on was read: put each row on its own line, and decompress a compressed file`

/** The advice for a file that is not UTF-8, by its format. */
const AS_UTF8: Readonly<Record<FileFormat, string>> = {
  csv: 'save the file as UTF-8, which Excel calls "CSV UTF-8"',
  jsonl: "write the file as UTF-8, or convert it with iconv"
}

/** The file is not UTF-8 from this line on. */
class NotUtf8 {
  readonly message: string
  constructor(
    readonly lines: number,
    format: FileFormat
  ) {
    this.message = `is not UTF-8, so no row from here on was read: ${AS_UTF8[format]}, and repeat the import`
  }
}

/** The text of a source, without the line that is not UTF-8, so that no damaged text is imported. */
async function* decodeText(source: Chunks, format: FileFormat): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let line = 1
  let text = ""
  const decode = (bytes?: Buffer) => {
    try {
      text += decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new NotUtf8(line, format)
    }
  }
  try {
    for await (const chunk of source) {
      text = ""
      if (typeof chunk === "string") text = chunk
      else
        for (let start = 0; start < chunk.length; ) {
          const end = chunk.indexOf("\n", start) + 1 || chunk.length
          decode(chunk.subarray(start, end))
          if (chunk[end - 1] === 10) line++
          start = end
        }
      yield text
      text = ""
    }
    decode()
  } catch (error) {
    if (error instanceof NotUtf8) yield text
    throw error
  }
}

/** The first line that cannot be read; nothing after it is read. */
const unreadableLine = (error: { readonly lines: number; readonly message: string }): ImportLine => ({
  line: error.lines,
  unreadable: error.message,
  cut_short: true
})

/** True for a text that could still become JSON, because the engine found no error before its end. */
const isBeginning = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(messageOf(error)) ?? []
    return /Unterminated string|end of JSON input/.test(messageOf(error)) || Number(position) === text.length
  }
}

/** True if the engine's messages contain the position of the error, like V8's messages. */
const HAS_COLUMNS = isBeginning("[")

/**
 * The reason why a line is not JSON, with the column of the fault: the end of the shortest beginning that cannot become
 * JSON.
 */
const faultOfJson = (text: string): string => {
  if (!HAS_COLUMNS) return "is not a JSON object: write one complete object on each line"
  if (isBeginning(text)) return "ends before its JSON object is complete: write one complete object on each line"
  let good = 0
  let endOfUnreadable = text.length
  while (endOfUnreadable - good > 1) {
    const middle = (good + endOfUnreadable) >> 1
    if (isBeginning(text.slice(0, middle))) good = middle
    else endOfUnreadable = middle
  }
  return `is not a JSON object, because of the character in column ${endOfUnreadable}: write one complete object on each line`
}

async function* readJsonLines(source: Chunks): AsyncGenerator<ImportLine> {
  let line = 0
  const lineOf = (text: string): ReadonlyArray<ImportLine> => {
    line++
    if (text.trim() === "") return []
    const row = line === 1 ? text.replace(/^\uFEFF/, "") : text
    try {
      return [{ line, row: JSON.parse(row) }]
    } catch {
      return [{ line, unreadable: faultOfJson(row) }]
    }
  }
  let rest = ""
  try {
    for await (const text of decodeText(source, "jsonl")) {
      const lines = (rest + text).split(/\r?\n/)
      rest = lines.pop()!
      for (const whole of lines) yield* lineOf(whole)
      if (rest.length > MAX_ROW_CHARACTERS) return yield unreadableLine({ lines: line + 1, message: TOO_LONG })
    }
    yield* lineOf(rest)
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error
    yield unreadableLine(error)
  }
}

/**
 * The separator of the columns, by their names in the first line: a comma, a tab, or a semicolon if numbers have
 * decimal commas.
 */
const separatorOf = (names: string): string =>
  names.includes(",") ? "," : ([";", "\t"].find((separator) => names.includes(separator)) ?? ",")

const MAX_HEADER_CHARACTERS = 64 * 1024

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

const quoteNames = (names: ReadonlyArray<string>): string => names.map((name) => JSON.stringify(name)).join(", ")

/** The error in the first line because of which no row could be read correctly; null if there is none. */
const faultOfNames = (names: ReadonlyArray<string>): string | null => {
  const unknownNames = names.filter((name) => name !== "" && !(COLUMNS as ReadonlyArray<string>).includes(name))
  if (unknownNames.length > 0)
    return `names ${quoteNames(unknownNames)}, but must name only columns of an import, so no row was read: rename or remove ${unknownNames.length === 1 ? "this column" : "these columns"}. The columns are ${COLUMNS.join(", ")}`
  const duplicate = names.find((name, at) => name !== "" && names.indexOf(name) !== at)
  return duplicate === undefined
    ? null
    : `names ${quoteNames([duplicate])} twice, so no row was read: remove one of the two columns`
}

/** The first line does not name the columns of an import. */
class NamesRefused {
  readonly lines = 1
  constructor(readonly message: string) {}
}

/**
 * A parser of CSV, with the lines that it has read. The records are kept here, because a parser that fails drops its
 * records.
 */
const makeCsvParser = (head: string) => {
  const ready: Array<ImportLine> = []
  // The number of lines to subtract, because the parser counts a line end of two characters in a cell twice.
  let countedTwice = 0
  // The line after which the next row begins; the first line has the names.
  let lastLine = 1
  const keepRecord = (record: Readonly<Record<string, string>>, { lines, error }: InfoRecord) => {
    const { record: cells, columns } = (error as Partial<Record<"record" | "columns", ReadonlyArray<string>>>) ?? {}
    const text = (cells ?? Object.values(record)).join()
    // The line of a row is the line on which it begins.
    const line = lines - countedTwice - countMatches(text, /[\r\n]/g)
    countedTwice += countMatches(text, /\r\n/g)
    lastLine = lines - countedTwice
    if (cells === undefined || columns === undefined) ready.push({ line, row: rowOfCells(record) })
    else
      ready.push({
        line,
        unreadable: `has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, but the first line names ${columns.length} columns: correct the separators, and put a cell that contains a separator in double quotes`
      })
    return null
  }
  const parser = parse({
    ...{ delimiter: separatorOf(head.split("\n")[0]!), bom: true, skip_empty_lines: true, trim: true },
    columns: (names: Array<string>) => {
      const fault = faultOfNames(names)
      if (fault !== null) throw new NamesRefused(fault)
      return names
    },
    relax_column_count: true,
    max_record_size: MAX_ROW_CHARACTERS,
    on_record: keepRecord
  })
  parser.on("error", () => {}).resume()
  return {
    ready,
    write: (text: string) =>
      new Promise<void>((resolve, reject) => parser.write(text, (error) => (error ? reject(error) : resolve()))),
    end: () => finished(parser.end()),
    /**
     * The first line of the row that could not be read, because the parser names the line on which it found the error.
     */
    failedAt: () => lastLine + 1
  }
}

/** The error in a file that is not CSV, with advice. */
const faultOf = (error: CsvError): string => {
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return `a row is longer than ${MAX_ROW_SIZE}. Decompress a compressed file, and look for a double quotation mark that is never closed`
  if (error.code === "CSV_QUOTE_NOT_CLOSED")
    return "a double quotation mark at the start of a cell is never closed. Close it"
  return /QUOTE/.test(error.code)
    ? "a cell contains a double quotation mark. Put the whole cell in double quotes, and write each quotation mark within it twice"
    : messageOf(error)
}

async function* readCsvLines(source: Chunks): AsyncGenerator<ImportLine> {
  let head = ""
  let parser: ReturnType<typeof makeCsvParser> | undefined
  try {
    for await (const text of decodeText(source, "csv")) {
      head += text
      if (parser === undefined && !head.includes("\n") && head.length < MAX_HEADER_CHARACTERS) continue
      parser ??= makeCsvParser(head)
      await parser.write(head)
      head = ""
      yield* parser.ready.splice(0)
    }
    parser ??= makeCsvParser(head)
    await parser.write(head)
    await parser.end()
    yield* parser.ready
  } catch (error) {
    if (error instanceof NotUtf8) {
      // The parser is ended here, because it looks ahead and returns the last row only at the end, even before a line
      // that is not UTF-8.
      await parser?.end().catch(() => {})
      yield* (parser?.ready ?? []).filter(({ line }) => line < error.lines)
      return yield unreadableLine(error)
    }
    if (error instanceof NamesRefused) return yield unreadableLine(error)
    if (!(error instanceof CsvError) || parser === undefined) throw error
    yield* parser.ready
    const message = `cannot be read, so no row from here on was read: ${faultOf(error)}`
    yield unreadableLine({ lines: parser.failedAt(), message })
  }
}

const sourceOf = (from: string | NodeJS.ReadableStream): RowSource => {
  if (typeof from !== "string") return streamSource(from)
  return from === "-" ? inputSource() : fileSource(from)
}

/**
 * Reads the rows of a file or a stream, with their line numbers, for `workshop.import`. The file `-` is standard input.
 * Throws a `TypeError` if the stream was read before or the format is unknown. A file is opened when the first line is
 * requested, and closed when the reader reaches the end or stops. A stream stays open if the reader stops before its
 * end. If the file or the stream cannot be read, the lines, and thus the import, reject with {@link RowsUnreadable}.
 */
export const readRows = (from: string | NodeJS.ReadableStream, format: FileFormat) => {
  if (!FORMATS.includes(format)) throw new TypeError(`The argument format must be ${FORMATS.join(" or ")}`)
  const { chunks, bytesRead } = sourceOf(from)
  return {
    lines: format === "csv" ? readCsvLines(chunks) : readJsonLines(chunks),
    /** The bytes of the file that were read. */
    bytesRead
  }
}
