import { open } from "node:fs/promises"
import { type Column, formatTable, type Paint, paintColoured, paintPlain } from "@workshop/core/internal/terminal"
import { Console, Effect, Predicate } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"

/** The properties of an output that determine colours and widths. */
export interface Outlet {
  readonly isTTY?: boolean
  readonly columns?: number
}

/**
 * True if an output gets colours: it is a terminal that can show them, and `NO_COLOR` (https://no-color.org) is not
 * set. `FORCE_COLOR` takes precedence over both, as in Node: 0 and false turn colours off, and other values turn them
 * on.
 */
export const wantsColour = (
  { isTTY }: Outlet,
  { FORCE_COLOR = "", NO_COLOR = "", TERM }: Readonly<Record<string, string | undefined>>
): boolean =>
  FORCE_COLOR === "" ? isTTY === true && NO_COLOR === "" && TERM !== "dumb" : !/^(0|false)$/i.test(FORCE_COLOR)

/**
 * The function that colours the text of an output, by default standard output. `--no-color` works too, because it sets
 * `NO_COLOR`.
 */
export const paintFor = (outlet: Outlet = process.stdout): Paint =>
  wantsColour(outlet, process.env) ? paintColoured : paintPlain

/** The width of an output, by default standard output; infinite if it is not a terminal. */
export const widthFor = ({ isTTY, columns }: Outlet = process.stdout): number =>
  isTTY === true && columns !== undefined && columns > 0 ? columns : Number.POSITIVE_INFINITY

const OWNER_ONLY = 0o600

const writeOwnerOnly = async (file: string, report: string): Promise<void> => {
  const handle = await open(file, "w", OWNER_ONLY)
  try {
    // An existing file keeps its mode, because `mode` applies only to a new file.
    if ((await handle.stat()).isFile()) await handle.chmod(OWNER_ONLY)
    await handle.writeFile(report)
  } finally {
    await handle.close()
  }
}

/**
 * Writes a report to the file that a flag such as `--html` names. Reports hold a shop's data, so only their owner may
 * read them.
 */
export const writeReport = (flag: string, file: string, report: string): Effect.Effect<void, CommandRefused> =>
  Effect.tryPromise({
    try: () => writeOwnerOnly(file, report),
    catch: (cause) => refuse(`${file} cannot be written (${String(cause)}). Name another file with ${flag}.`)
  })

/** The output of a command: for a program, and for a person. */
export interface Output {
  /** The value that `--json` prints. */
  readonly data: unknown
  readonly lines: (look: { readonly paint: Paint; readonly width: number }) => ReadonlyArray<string>
}

/** Prints an output: one JSON value if `asJson` is true, otherwise lines that fit the terminal. */
export const printOutput = ({ data, lines }: Output, asJson: boolean): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(data, null, 2) : lines({ paint: paintFor(), width: widthFor() }).join("\n"))

const valueInWords = (value: unknown): string => {
  if (value === null) return "-"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.join(", ")
  return String(value)
}

const flattenFields = (fields: object, path = ""): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(fields).flatMap(([name, value]) =>
    Predicate.isRecord(value) ? flattenFields(value, `${path}${name}.`) : [[path + name, value] as const]
  )

const fieldLines = (fields: object, paint: Paint): ReadonlyArray<string> => {
  const all = flattenFields(fields)
  const width = Math.max(...all.map(([name]) => name.length))
  return all.map(([name, value]) => `${paint("faint", name.padEnd(width))}  ${valueInWords(value)}`)
}

/** The output of one object: a line for each field, then the lines of `after`. */
export const recordOutput = (fields: object, after: ReadonlyArray<string> = []): Output => ({
  data: fields,
  lines: ({ paint }) => [...fieldLines(fields, paint), ...after]
})

/** The output of several objects: a table with a row for each. */
export const rowsOutput = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  empty: string
): Output => ({
  data: rows,
  lines: ({ paint, width }) => formatTable(rows, columns, { paint, width, empty })
})

/** The output of a sentence. */
export const sentenceOutput = (data: object, text: string): Output => ({ data, lines: () => [text] })

/** The output of a secret, after a sentence that says that the secret cannot be read again. */
export const secretOutput = (data: object, what: string, secret: string): Output => ({
  data,
  lines: ({ paint }) => [
    `${what} is shown only once. Store it where only your server can read it:`,
    paint("strong", secret)
  ]
})
