import { stripVTControlCharacters } from "node:util"
import { type Outlet, type Paint, plain } from "./Style.js"

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

const GAP = "  "
const NARROWEST = 6
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

const padded = (text: string, width: number, align: "left" | "right"): string => {
  const room = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? room + text : text + room
}

/** Takes from the widest column that may be shortened, until all fit or none can give any more. */
const fitted = (natural: ReadonlyArray<number>, isWhole: ReadonlyArray<boolean>, width: number) => {
  const widths = [...natural]
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width
  while (excess > 0) {
    const giving = widths.reduce(
      (widest, one, i) => (!isWhole[i] && one > (widths[widest] ?? NARROWEST) ? i : widest),
      -1
    )
    if (giving === -1) break
    widths[giving] = widths[giving]! - 1
    excess -= 1
  }
  return widths
}

/** A table as lines, its titles first: as wide as its content, and no wider than the terminal where that can be. */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  { width = Number.POSITIVE_INFINITY, paint = plain, empty = "Nothing yet." }: TableOptions = {}
): ReadonlyArray<string> => {
  if (rows.length === 0) return [paint("faint", empty)]
  // A line break in a cell would break the table.
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row).replaceAll(/\s*\n\s*/g, " ")))
  const natural = columns.map(({ title }, i) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[i] ?? "")))
  )
  const widths = fitted(
    natural,
    columns.map(({ isWhole }) => isWhole === true),
    width
  )
  const line = (texts: ReadonlyArray<string>) =>
    texts
      .map((text, i) => padded(shortened(text, widths[i]!), widths[i]!, columns[i]?.align ?? "left"))
      .join(GAP)
      .trimEnd()
  const titles = columns.map(({ title }, i) => shortened(title, widths[i]!))
  return [line(titles.map((title) => paint("faint", title))), ...cells.map(line)]
}

/** The width that an outlet has, standard output unless told; without bounds where it is no terminal. */
export const widthFor = ({ isTTY, columns }: Outlet = process.stdout): number =>
  isTTY === true && columns !== undefined && columns > 0 ? columns : Number.POSITIVE_INFINITY
