import { type Paint, paintPlain } from "./Paint.js"

/** A code that begins or ends a style of `Paint.ts`. */
const STYLE_CODE = `${String.fromCharCode(27)}\\[[0-9;]*m`
const ANSI = new RegExp(`(${STYLE_CODE})`)
const EVERY_ANSI = new RegExp(STYLE_CODE, "g")

const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

const graphemesOf = (text: string) => Array.from(segments.segment(text), ({ segment }) => segment)
const graphemeWidth = (letter: string): number => (WIDE.test(letter) ? 2 : 1)

/** The number of columns of the terminal that a text takes; colour codes take none. */
export const widthOf = (text: string): number =>
  graphemesOf(text.replaceAll(EVERY_ANSI, "")).reduce((sum, letter) => sum + graphemeWidth(letter), 0)

/** Shortens a text to `width` columns. A shortened text ends with three dots, after the end of its colours. */
export const shorten = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let left = width - Math.min(3, width)
  const shortenedParts = text.split(ANSI).map((part) => {
    if (ANSI.test(part)) return part
    return graphemesOf(part)
      .filter((letter) => {
        left -= graphemeWidth(letter)
        return left >= 0
      })
      .join("")
  })
  return `${shortenedParts.join("")}${"...".slice(0, width)}`
}

/** Pads a text to a width: at its end, or at its beginning if it is aligned to the right. */
const padText = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const room = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? room + text : text + room
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** The text of a row's cell; it may be coloured already. */
  readonly cell: (row: Row) => string
  /** Numbers are aligned to the right. */
  readonly align?: "left" | "right"
  /** True for ids and other texts to copy, which are never shortened. */
  readonly isWhole?: boolean
}

/** Options of a table. */
interface TableOptions {
  /**
   * The width of the terminal; {@link Number.POSITIVE_INFINITY} for a file or a pipe, because nothing is shortened
   * there.
   */
  readonly width?: number
  readonly paint?: Paint
  /** The line that is printed if the table is empty. */
  readonly empty?: string
}

/** A column with its cells, one for each row. */
interface FilledColumn extends Pick<Column<never>, "title" | "align" | "isWhole"> {
  readonly cells: ReadonlyArray<string>
}

const GAP = "  "
const MIN_COLUMN_WIDTH = 6

const widestOf = (texts: ReadonlyArray<string>): number => Math.max(...texts.map(widthOf))

/** The least width of a column, in which its title is not shortened. */
const minWidthOf = ({ title, cells, isWhole }: FilledColumn): number => {
  const natural = widestOf([title, ...cells])
  return isWhole === true ? natural : Math.min(natural, Math.max(MIN_COLUMN_WIDTH, widthOf(title)))
}

/**
 * The widths at which the columns fit the terminal. The widest column is shortened first. Undefined if they cannot fit.
 */
const fitColumns = (columns: ReadonlyArray<FilledColumn>, width: number): ReadonlyArray<number> | undefined => {
  const widths = columns.map(({ title, cells }) => widestOf([title, ...cells]))
  const bounds = columns.map(minWidthOf)
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width
  while (excess > 0) {
    const widestColumn = widths.reduce(
      (max, one, i) => (one > bounds[i]! && (max === -1 || one > widths[max]!) ? i : max),
      -1
    )
    if (widestColumn === -1) return undefined
    widths[widestColumn] = widths[widestColumn]! - 1
    excess -= 1
  }
  return widths
}

/** The table with a line for each row, under the titles. */
const alignRows = (
  columns: ReadonlyArray<FilledColumn>,
  widths: ReadonlyArray<number>,
  paint: Paint
): ReadonlyArray<string> => {
  const line = (texts: ReadonlyArray<string>) =>
    texts
      .map((text, i) => padText(shorten(text, widths[i]!), widths[i]!, columns[i]?.align))
      .join(GAP)
      .trimEnd()
  const rows = columns[0]?.cells.map((_, row) => line(columns.map(({ cells }) => cells[row]!))) ?? []
  return [line(columns.map(({ title }) => paint("faint", title))), ...rows]
}

/**
 * The table with a line for each cell, for a terminal that is too narrow for the columns that must not be shortened.
 */
const stackRows = (columns: ReadonlyArray<FilledColumn>, width: number, paint: Paint): ReadonlyArray<string> => {
  const titles = widestOf(columns.map(({ title }) => title))
  const left = Math.max(MIN_COLUMN_WIDTH, width - titles - GAP.length)
  const rows = columns[0]?.cells.map((_, row) =>
    columns
      .filter(({ cells }) => cells[row] !== "")
      .map(({ title, cells, isWhole }) => {
        const text = cells[row]!
        return `${padText(paint("faint", title), titles)}${GAP}${isWhole === true ? text : shorten(text, left)}`
      })
  )
  return rows?.flatMap((lines, row) => (row === 0 ? lines : ["", ...lines])) ?? []
}

/**
 * A table as lines, its titles first: as wide as its content, and no wider than the terminal. On a terminal that is too
 * narrow for its columns, each row is a block of lines.
 */
export const formatTable = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  { width = Number.POSITIVE_INFINITY, paint = paintPlain, empty = "Nothing yet." }: TableOptions = {}
): ReadonlyArray<string> => {
  if (rows.length === 0) return [paint("faint", empty)]
  const filled = columns.map(
    ({ cell, ...column }): FilledColumn => ({
      ...column,
      // A line break in a cell would break the table.
      cells: rows.map((row) => cell(row).replaceAll(/(?<!\s)\s*\n\s*/g, " "))
    })
  )
  const widths = fitColumns(filled, width)
  return widths === undefined ? stackRows(filled, width, paint) : alignRows(filled, widths, paint)
}
