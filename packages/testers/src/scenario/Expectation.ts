import { isDeepStrictEqual } from "node:util"
import { Predicate } from "effect"
import { bracedReferencesIn, type Names, resolveText, wholeReference } from "./references.js"

/** An object whose fields are not known. */
export type ExpectedFields = Readonly<Record<string, unknown>>

/** A field of a value; undefined if it has none. */
export const fieldOf = (value: unknown, field: string): unknown =>
  Predicate.isRecord(value) ? value[field] : undefined

/** A difference between a value and the expected value, with its path. */
export interface Mismatch {
  /** The path of the difference, such as `data.items.1.label`. */
  readonly path: string
  /** The expected value, as JSON or in words. */
  readonly expected: string
  /** The value in the response, as JSON or in words. */
  readonly actual: string
}

/** All differences between a value and the expected value. */
export type Mismatches = ReadonlyArray<Mismatch>

const MAX_SHOWN_CHARACTERS = 160

/** Texts that would be read as something else without quotes, such as null, a number or true. */
const NEEDS_QUOTES = /^$|^\s|\s$|^(-?\d+(\.\d+)?|true|false|null)$/

const truncateText = (text: string): string =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text

/** Writes a value on one line in a short form: an event as its type. */
const formatValue = (value: unknown): string => {
  if (value === undefined) return "(absent)"
  if (typeof value === "string") return NEEDS_QUOTES.test(value) ? JSON.stringify(value) : truncateText(value)
  const type = fieldOf(value, "type")
  return typeof type === "string" ? type : truncateText(JSON.stringify(value))
}

/** A mismatch at a path, unless a condition is met. */
const mismatchUnless = (isMet: boolean, path: string, expected: unknown, actual: unknown): Mismatches =>
  isMet ? [] : [{ path: path === "" ? "it" : path, expected: formatValue(expected), actual: formatValue(actual) }]

/** The path of a field of the value at a path. */
const joinPath = (path: string, field: string | number): string => (path === "" ? String(field) : `${path}.${field}`)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** The words that match any value of a kind. */
export const valueKinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: (value) => value !== undefined,
  absent: (value) => value === undefined,
  uuid: (value) => Predicate.isString(value) && UUID.test(value),
  instant: (value) => Predicate.isString(value) && INSTANT.test(value),
  text: Predicate.isString,
  number: Predicate.isNumber
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b
}

/** Converts a value to a number for a comparison. An instant becomes milliseconds since 1970. */
const toComparable = (value: unknown): number => {
  if (typeof value === "number") return value
  if (!Predicate.isString(value) || value === "") return Number.NaN
  return Number.isNaN(Number(value)) ? Date.parse(value) : Number(value)
}

const COMPARISON = /^(<=|>=|<|>)\s*(\S.*)$/
const PATTERN = /^\/(.+)\/([imsu]*)$/s

/** The regular expression in a text such as `/^wk_/i`; undefined if it has none, null if it is not valid. */
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
const findTextMismatches = (expected: string, actual: unknown, names: Names, path: string): Mismatches => {
  const word = expected.slice(1)
  const kind = expected.startsWith("$") && Object.hasOwn(valueKinds, word) ? valueKinds[word] : undefined
  if (kind !== undefined) return mismatchUnless(kind(actual), path, expected, actual)
  const pattern = patternOf(expected)
  if (pattern) return mismatchUnless(Predicate.isString(actual) && pattern.test(actual), path, expected, actual)
  const [, sign, operand] = COMPARISON.exec(expected) ?? []
  if (sign !== undefined && operand !== undefined) {
    const resolvedText = resolveText(operand, names)
    const isMet = comparisons[sign]!(toComparable(actual), toComparable(resolvedText))
    return mismatchUnless(
      isMet,
      path,
      operand === resolvedText ? expected : `${expected} (${formatValue(resolvedText)})`,
      actual
    )
  }
  const value = resolveText(expected, names)
  const isReference = wholeReference(expected) !== undefined || bracedReferencesIn(expected).length > 0
  return mismatchUnless(
    isDeepStrictEqual(value, actual),
    path,
    isReference ? `${formatValue(value)} (${expected})` : value,
    actual
  )
}

/** An expected entry and the actual entry that it is compared with; undefined if one of them is missing. */
interface Pair {
  readonly expected: number | undefined
  readonly actual: number | undefined
}

/** The cost of an entry without a partner. Two such entries cost as much as a pair that has nothing in common. */
const UNPAIRED_COST = 0.5

/**
 * Aligns two lists in order, because otherwise one missing or surplus entry would make all later entries differ. `cost`
 * is the distance of two entries: 0 if they match, and 1 if they have nothing in common.
 */
const alignLists = (
  expected: number,
  actual: number,
  cost: (expected: number, actual: number) => number
): ReadonlyArray<Pair> => {
  const lowestCosts = Array.from({ length: expected + 1 }, () => new Array<number>(actual + 1).fill(0))
  const lowestCost = (i: number, j: number): number => lowestCosts[i]?.[j] ?? Number.POSITIVE_INFINITY
  const pairCost = (i: number, j: number): number =>
    i < expected && j < actual ? cost(i, j) + lowestCost(i + 1, j + 1) : Number.POSITIVE_INFINITY
  for (let i = expected; i >= 0; i--) {
    for (let j = actual; j >= 0; j--) {
      if (i === expected && j === actual) continue
      lowestCosts[i]![j] = Math.min(
        pairCost(i, j),
        UNPAIRED_COST + lowestCost(i + 1, j),
        UNPAIRED_COST + lowestCost(i, j + 1)
      )
    }
  }
  const pairs: Array<Pair> = []
  for (let [i, j] = [0, 0]; i < expected || j < actual; ) {
    const isPair = lowestCost(i, j) === pairCost(i, j)
    const isMissing = !isPair && lowestCost(i, j) === UNPAIRED_COST + lowestCost(i + 1, j)
    pairs.push({ expected: isPair || isMissing ? i : undefined, actual: isMissing ? undefined : j })
    i += isPair || isMissing ? 1 : 0
    j += isMissing ? 0 : 1
  }
  return pairs
}

/** The text that is shown for an entry without a partner. */
const describeMissingEntry = (actual: ReadonlyArray<unknown>): string =>
  formatValue(`(no such entry among ${actual.map(formatValue).join(", ") || "no entries"})`)

const isMatch = (expected: unknown, actual: unknown, names: Names): boolean =>
  findMismatches(expected, actual, names).length === 0

/**
 * Assigns a different actual entry to each wanted entry, and changes earlier assignments if a later wanted entry needs
 * it. Returns the wanted entries without an assignment.
 */
const findUnassigned = (wanted: ReadonlyArray<unknown>, list: ReadonlyArray<unknown>, names: Names) => {
  const matches = wanted.map((value) => list.map((entry) => isMatch(value, entry, names)))
  const takenBy = new Map<number, number>()
  const assignEntry = (i: number, tried: Set<number>): boolean =>
    list.some((_, j) => {
      if (!matches[i]![j] || tried.has(j)) return false
      tried.add(j)
      const holder = takenBy.get(j)
      if (holder !== undefined && !assignEntry(holder, tried)) return false
      takenBy.set(j, i)
      return true
    })
  return wanted.filter((_, i) => !assignEntry(i, new Set()))
}

/** The differences of the entry that is nearest to a wanted one; empty if no entry has anything in common with it. */
const findNearestMismatches = (
  wanted: unknown,
  list: ReadonlyArray<unknown>,
  names: Names,
  path: string
): Mismatches => {
  const candidates = list.map((entry, i) => findMismatches(wanted, entry, names, joinPath(path, i)))
  const smallest = candidates.reduce((a, b) => (b.length < a.length ? b : a), candidates[0] ?? [])
  return smallest.length < findMismatches(wanted, {}, names, path).length ? smallest : []
}

type Operator = (operand: unknown, actual: unknown, names: Names, path: string) => Mismatches

const toList = (operand: unknown): ReadonlyArray<unknown> => (Array.isArray(operand) ? operand : [operand])

/** Makes the operators `$contains` and `$unordered`; `$unordered` allows no further entries. */
const makeListOperator =
  (allowsNoOthers: boolean): Operator =>
  (operand, actual, names, path) => {
    if (!Array.isArray(actual)) return mismatchUnless(false, path, "a list", actual)
    const wanted = toList(operand)
    const entries = actual.map(formatValue).join(", ") || "no entries"
    return [
      ...findUnassigned(wanted, actual, names).flatMap((missingValue) => [
        ...mismatchUnless(false, path, `an entry ${formatValue(missingValue)}`, `no such entry among ${entries}`),
        ...findNearestMismatches(missingValue, actual, names, path)
      ]),
      ...mismatchUnless(
        !allowsNoOthers || wanted.length === actual.length,
        joinPath(path, "length"),
        wanted.length,
        actual.length
      )
    ]
  }

/** The operators, which are objects with a single field such as `$not`, by the name of that field. */
export const operators: Readonly<Record<string, Operator>> = {
  $not: (operand, actual, names, path) =>
    mismatchUnless(!isMatch(operand, actual, names), path, `not ${formatValue(operand)}`, actual),
  $length: (operand, actual, names, path) =>
    Array.isArray(actual) || Predicate.isString(actual)
      ? findMismatches(operand, actual.length, names, joinPath(path, "length"))
      : mismatchUnless(false, path, "a list", actual),
  $contains: makeListOperator(false),
  $unordered: makeListOperator(true),
  $exactly: (operand, actual, names, path) => {
    const isBoth = Predicate.isRecord(operand) && Predicate.isRecord(actual)
    const extraFields = isBoth ? Object.entries(actual).filter(([field]) => !Object.hasOwn(operand, field)) : []
    return [
      ...findMismatches(operand, actual, names, path),
      ...extraFields.flatMap(([field, value]) => mismatchUnless(false, joinPath(path, field), "(absent)", value))
    ]
  },
  $one_of: (operand, actual, names, path) => {
    const isMet = toList(operand).some((alternative) => isMatch(alternative, actual, names))
    return mismatchUnless(isMet, path, `one of ${toList(operand).map(formatValue).join(", ")}`, actual)
  }
}

/** The largest number of comparisons to align two lists. Longer lists are compared by position. */
const MAX_COMPARISONS = 10_000

/** The distance of two entries, from 0 to 1; it is 1 for entries with different ids. */
const measureDistance = (expected: unknown, actual: unknown, names: Names): number => {
  const mismatches = findMismatches(expected, actual, names)
  if (mismatches.length === 0) return 0
  const max = findMismatches(expected, {}, names).length
  return mismatches.some(({ path }) => path === "id") ? 1 : Math.min(1, mismatches.length / Math.max(1, max))
}

const findListMismatches = (
  expected: ReadonlyArray<unknown>,
  actual: unknown,
  names: Names,
  path: string
): Mismatches => {
  if (!Array.isArray(actual)) return mismatchUnless(false, path, "a list", actual)
  const isShort = expected.length * actual.length <= MAX_COMPARISONS
  const costs = expected.map((expectedItem, i) =>
    actual.map((actualItem, j) => (isShort ? measureDistance(expectedItem, actualItem, names) : i === j ? 0 : 1))
  )
  return alignLists(expected.length, actual.length, (i, j) => costs[i]![j]!).flatMap(({ expected: i, actual: j }) => {
    if (i === undefined) return mismatchUnless(false, joinPath(path, j!), "(no further entry)", actual[j!])
    if (j === undefined) return mismatchUnless(false, joinPath(path, i), expected[i], describeMissingEntry(actual))
    return findMismatches(expected[i], actual[j], names, joinPath(path, j))
  })
}

const findFieldMismatches = (expected: ExpectedFields, actual: unknown, names: Names, path: string): Mismatches => {
  const [first, ...others] = Object.keys(expected)
  const operator =
    first !== undefined && others.length === 0 && Object.hasOwn(operators, first) ? operators[first] : undefined
  if (operator !== undefined) return operator(expected[first!], actual, names, path)
  if (!Predicate.isRecord(actual)) return mismatchUnless(false, path, expected, actual)
  return Object.entries(expected).flatMap(([field, inner]) =>
    findMismatches(inner, Object.hasOwn(actual, field) ? actual[field] : undefined, names, joinPath(path, field))
  )
}

/**
 * Compares a value with what is expected. An object may have further fields. Lists must have the same entries in the
 * same order. Texts may hold references, kinds (`$uuid`), patterns (`/^wk_/`) and bounds (`<= 20`). Throws
 * `ReferenceUnknown`.
 */
export const findMismatches = (expected: unknown, actual: unknown, names: Names, path = ""): Mismatches => {
  if (Predicate.isString(expected)) return findTextMismatches(expected, actual, names, path)
  if (Array.isArray(expected)) return findListMismatches(expected, actual, names, path)
  if (Predicate.isRecord(expected)) return findFieldMismatches(expected, actual, names, path)
  return mismatchUnless(Object.is(expected, actual), path, expected, actual)
}
