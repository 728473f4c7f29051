import { type Found, isObject, shown, unless } from "./Mismatch.js"
import { inBraces, type Names, resolveText, wholeReference } from "./references.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Whether a value is text. */
export const isText = (value: unknown): value is string => typeof value === "string"

/** The words that match any value of a kind. */
export const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: (value) => value !== undefined,
  absent: (value) => value === undefined,
  uuid: (value) => isText(value) && UUID.test(value),
  instant: (value) => isText(value) && INSTANT.test(value),
  text: isText,
  number: (value) => typeof value === "number"
}

/** Whether two JSON values are the same, whatever the order of their fields. */
const same = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((inner, i) => same(inner, b[i]))
  if (isObject(a) && isObject(b)) {
    const fields = Object.keys(a)
    return fields.length === Object.keys(b).length && fields.every((field) => same(a[field], b[field]))
  }
  return Object.is(a, b)
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b
}

/** Numbers as they are, instants as milliseconds. */
const measure = (value: unknown): number => {
  if (typeof value === "number") return value
  if (!isText(value) || value === "") return Number.NaN
  return Number.isNaN(Number(value)) ? Date.parse(value) : Number(value)
}

const COMPARISON = /^(<=|>=|<|>)\s*(\S.*)$/
const PATTERN = /^\/(.+)\/([imsu]*)$/s

/** The regular expression that a text such as `/^wk_/i` is; undefined where it is none, null where it is faulty. */
export const patternOf = (text: string): RegExp | undefined | null => {
  const [, source, flags] = PATTERN.exec(text) ?? []
  if (source === undefined) return undefined
  try {
    return new RegExp(source, flags)
  } catch {
    return null
  }
}

/** Compares a value with an expected text, which may be a kind, a pattern or a bound, or hold references. */
export const matchText = (expected: string, actual: unknown, names: Names, path: string): Found => {
  const word = expected.slice(1)
  const kind = expected.startsWith("$") && Object.hasOwn(kinds, word) ? kinds[word] : undefined
  if (kind !== undefined) return unless(kind(actual), path, expected, actual)
  const pattern = patternOf(expected)
  if (pattern) return unless(isText(actual) && pattern.test(actual), path, expected, actual)
  const [, sign, operand] = COMPARISON.exec(expected) ?? []
  if (sign !== undefined && operand !== undefined) {
    const bound = resolveText(operand, names)
    const isMet = comparisons[sign]!(measure(actual), measure(bound))
    return unless(isMet, path, operand === bound ? expected : `${expected} (${shown(bound)})`, actual)
  }
  const value = resolveText(expected, names)
  const isReference = wholeReference(expected) !== undefined || inBraces(expected).length > 0
  return unless(same(value, actual), path, isReference ? `${shown(value)} (${expected})` : value, actual)
}
