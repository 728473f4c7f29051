/** An object whose fields are not known. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is an object, and no list. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A field of a value; undefined where it has none. */
export const fieldOf = (value: unknown, field: string): unknown => (isObject(value) ? value[field] : undefined)

/** One place at which something is not as it was expected. */
export interface Mismatch {
  /** Such as `data.items.1.label`. */
  readonly path: string
  readonly expected: string
  readonly actual: string
}

/** Everything that is not as it was expected. */
export type Found = ReadonlyArray<Mismatch>

const MAX_SHOWN = 160

/** Texts that would pass for something else: nothing, a number, true. */
const NEEDS_QUOTES = /^$|^\s|\s$|^(-?\d+(\.\d+)?|true|false|null)$/

const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text)

/** A value on one line, as short as can be: an event by its type. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "(absent)"
  if (typeof value === "string") return NEEDS_QUOTES.test(value) ? JSON.stringify(value) : shortened(value)
  const type = fieldOf(value, "type")
  return typeof type === "string" ? type : shortened(JSON.stringify(value))
}

/** A mismatch at a path, unless a condition is met. */
export const unless = (isMet: boolean, path: string, expected: unknown, actual: unknown): Found =>
  isMet ? [] : [{ path: path === "" ? "it" : path, expected: shown(expected), actual: shown(actual) }]

/** The path of a field within what is at a path. */
export const at = (path: string, field: string | number): string => (path === "" ? String(field) : `${path}.${field}`)
