import type { Said } from "../terminal/Said.js"
import type { Paint } from "../terminal/Style.js"
import { type Column, type TableOptions, table } from "../terminal/Table.js"

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
export const oneOf = (fields: object, after: ReadonlyArray<string> = []): Said => ({
  data: fields,
  lines: ({ paint }) => [...fieldLines(fields, paint), ...after]
})

/** Several: a row each. */
export const several = <Row>(rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>, empty: string): Said => ({
  data: rows,
  lines: ({ paint, width }) => table(rows, columns, { paint, width, empty } satisfies TableOptions)
})

/** A sentence. */
export const sentence = (data: object, text: string): Said => ({ data, lines: () => [text] })

/** A secret that nobody can look up again, and the sentence that says so. */
export const shownOnce = (data: object, what: string, secret: string): Said => ({
  data,
  lines: ({ paint }) => [
    `${what} is shown this once; keep it where only your server reads it:`,
    paint("strong", secret)
  ]
})
