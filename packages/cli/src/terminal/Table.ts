import { stripVTControlCharacters } from "node:util"
import { type Outlet, type Paint, plain } from "./Style.js"

const ANSI = new RegExp(`(${String.fromCharCode(27)}\\[[0-9;]*m)`)

const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

const letters = (text: string) => Array.from(segments.segment(text), ({ segment }) => segment)
const letterWidth = (letter: string): number => (WIDE.test(letter) ? 2 : 1)

/** How many columns of the terminal a text takes, its colours not counted. */
export const widthOf = (text: string): number =>
  letters(stripVTControlCharacters(text)).reduce((sum, letter) => sum + letterWidth(letter), 0)

/** A text in at most `width` columns, with three dots where something was cut; its colours end before them. */
export const shortened = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let left = width - Math.min(3, width)
  const kept = text.split(ANSI).map((part) => {
    if (ANSI.test(part)) return part
    return letters(part)
      .filter((letter) => {
        left -= letterWidth(letter)
        return left >= 0
      })
      .join("")
  })
  return `${kept.join("")}${"...".slice(0, width)}`
}

/** A text with room at its end, or before it where it stands at the right. */
export const padded = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const room = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? room + text : text + room
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** What stands in a row; it may be coloured already. */
  readonly cell: (row: Row) => string
  /** Numbers stand at the right. */
  readonly align?: "left" | "right"
  /** Never shortened: ids and whatever is to be copied. */
  readonly isWhole?: boolean
}

/** How a table is to be drawn. */
export interface TableOptions {
  /** Of the terminal; {@link Number.POSITIVE_INFINITY} for a file or a pipe, where nothing is shortened. */
  readonly width?: number
  readonly paint?: Paint
  /** Said in place of an empty table. */
  readonly empty?: string
}

/** A column with its cells, one for each row. */
interface Filled extends Pick<Column<never>, "title" | "align" | "isWhole"> {
  readonly cells: ReadonlyArray<string>
}

const GAP = "  "
const NARROWEST = 6

const widest = (texts: ReadonlyArray<string>): number => Math.max(...texts.map(widthOf))

/** How narrow a column may get: its title is always legible. */
const least = ({ title, cells, isWhole }: Filled): number => {
  const natural = widest([title, ...cells])
  return isWhole === true ? natural : Math.min(natural, Math.max(NARROWEST, widthOf(title)))
}

/** Widths that fit the terminal, taken from the widest columns first; undefined where none do. */
const fitted = (columns: ReadonlyArray<Filled>, width: number): ReadonlyArray<number> | undefined => {
  const widths = columns.map(({ title, cells }) => widest([title, ...cells]))
  const bounds = columns.map(least)
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width
  while (excess > 0) {
    const giving = widths.reduce(
      (most, one, i) => (one > bounds[i]! && (most === -1 || one > widths[most]!) ? i : most),
      -1
    )
    if (giving === -1) return undefined
    widths[giving] = widths[giving]! - 1
    excess -= 1
  }
  return widths
}

/** The rows beside each other, under their titles. */
const beside = (columns: ReadonlyArray<Filled>, widths: ReadonlyArray<number>, paint: Paint): ReadonlyArray<string> => {
  const line = (texts: ReadonlyArray<string>) =>
    texts
      .map((text, i) => padded(shortened(text, widths[i]!), widths[i]!, columns[i]?.align))
      .join(GAP)
      .trimEnd()
  const rows = columns[0]?.cells.map((_, row) => line(columns.map(({ cells }) => cells[row]!))) ?? []
  return [line(columns.map(({ title }) => paint("faint", title))), ...rows]
}

/** A row below the other, a line a cell: for a terminal on which not even what must stay whole fits side by side. */
const stacked = (columns: ReadonlyArray<Filled>, width: number, paint: Paint): ReadonlyArray<string> => {
  const titles = widest(columns.map(({ title }) => title))
  const left = Math.max(NARROWEST, width - titles - GAP.length)
  const rows = columns[0]?.cells.map((_, row) =>
    columns
      .filter(({ cells }) => cells[row] !== "")
      .map(({ title, cells, isWhole }) => {
        const text = cells[row]!
        return `${padded(paint("faint", title), titles)}${GAP}${isWhole === true ? text : shortened(text, left)}`
      })
  )
  return rows?.flatMap((lines, row) => (row === 0 ? lines : ["", ...lines])) ?? []
}

/**
 * A table as lines, its titles first: as wide as its content, and no wider than the terminal. On one that is too narrow
 * for its columns, each row is a block of lines.
 */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  { width = Number.POSITIVE_INFINITY, paint = plain, empty = "Nothing yet." }: TableOptions = {}
): ReadonlyArray<string> => {
  if (rows.length === 0) return [paint("faint", empty)]
  const filled = columns.map(
    ({ cell, ...column }): Filled => ({
      ...column,
      // A line break in a cell would break the table.
      cells: rows.map((row) => cell(row).replaceAll(/(?<!\s)\s*\n\s*/g, " "))
    })
  )
  const widths = fitted(filled, width)
  return widths === undefined ? stacked(filled, width, paint) : beside(filled, widths, paint)
}

/** The width that an outlet has, standard output unless told; without bounds where it is no terminal. */
export const widthFor = ({ isTTY, columns }: Outlet = process.stdout): number =>
  isTTY === true && columns !== undefined && columns > 0 ? columns : Number.POSITIVE_INFINITY
