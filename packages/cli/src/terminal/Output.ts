import { Console, type Effect } from "effect"
import { type Paint, paintFor } from "./Style.js"
import { type Column, table, widthFor } from "./Table.js"

/** What a command prints: for a program, and for a person. */
export interface Output {
  /** What `--json` prints. */
  readonly data: unknown
  readonly lines: (look: { readonly paint: Paint; readonly width: number }) => ReadonlyArray<string>
}

/** Prints it: JSON of one value where asked, else lines that fit the terminal. */
export const printOutput = ({ data, lines }: Output, asJson: boolean): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(data, null, 2) : lines({ paint: paintFor(), width: widthFor() }).join("\n"))

const inWords = (value: unknown): string => {
  if (value === null) return "-"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.join(", ")
  return String(value)
}

const flat = (fields: object, path = ""): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(fields).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? flat(value, `${path}${name}.`)
      : [[path + name, value] as const]
  )

const fieldLines = (fields: object, paint: Paint): ReadonlyArray<string> => {
  const all = flat(fields)
  const width = Math.max(...all.map(([name]) => name.length))
  return all.map(([name, value]) => `${paint("faint", name.padEnd(width))}  ${inWords(value)}`)
}

/** One thing: its fields below each other, and lines after them. */
export const record = (fields: object, after: ReadonlyArray<string> = []): Output => ({
  data: fields,
  lines: ({ paint }) => [...fieldLines(fields, paint), ...after]
})

/** Several: a row each. */
export const rows = <Row>(all: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>, empty: string): Output => ({
  data: all,
  lines: ({ paint, width }) => table(all, columns, { paint, width, empty })
})

/** A sentence. */
export const sentence = (data: object, text: string): Output => ({ data, lines: () => [text] })

/** A secret that nobody can look up again, and the sentence that says so. */
export const shownOnce = (data: object, what: string, secret: string): Output => ({
  data,
  lines: ({ paint }) => [
    `${what} is shown this once; keep it where only your server reads it:`,
    paint("strong", secret)
  ]
})
