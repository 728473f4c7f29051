import { fieldOf } from "./Fields.js"

/** One place at which something is not as it was expected. */
export interface Mismatch {
  /** Such as `data.items.1.label`. */
  readonly path: string
  readonly expected: string
  readonly actual: string
}

/** Everything that is not as it was expected. */
export type Found = ReadonlyArray<Mismatch>
const LONGEST = 160

/** Texts that would pass for something else: nothing, a number, true. */
const NEEDS_QUOTES = /^$|^\s|\s$|^(-?\d+(\.\d+)?|true|false|null)$/

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text)

/** A value on one line, as short as can be: an event by its type. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "(absent)"
  if (typeof value === "string") return NEEDS_QUOTES.test(value) ? JSON.stringify(value) : shortened(value)
  const type = fieldOf(value, "type")
  return typeof type === "string" ? type : shortened(JSON.stringify(value))
}

/** What is wrong at a path, unless something is so. */
export const unless = (isMet: boolean, path: string, expected: unknown, actual: unknown): Found =>
  isMet ? [] : [{ path: path === "" ? "it" : path, expected: shown(expected), actual: shown(actual) }]

/** The path of a field within what is at a path. */
export const at = (path: string, field: string | number): string => (path === "" ? String(field) : `${path}.${field}`)
