import { Effect } from "effect"
import { alignLists, type Pair } from "./alignLists.js"
import { isText, matchText } from "./ExpectedText.js"
import { isObject } from "./Fields.js"
import { at, type Found, type Mismatch, shown, unless } from "./Mismatch.js"
import type { Names, NameUnknown } from "./Names.js"

/** What stands beside an entry that has no partner. */
const NOTHING = "(no such entry)"

type Matching = Effect.Effect<Found, NameUnknown>

const isMatch = (expected: unknown, actual: unknown, names: Names): Effect.Effect<boolean, NameUnknown> =>
  Effect.map(match(expected, actual, names), (found) => found.length === 0)

/** Finds each wanted entry an entry of its own, trying others where a first choice leaves a later one without. */
const assign = Effect.fnUntraced(function* (
  wanted: ReadonlyArray<unknown>,
  list: ReadonlyArray<unknown>,
  names: Names
): Effect.fn.Return<ReadonlyArray<unknown>, NameUnknown> {
  const fits: Array<ReadonlyArray<boolean>> = []
  for (const one of wanted) fits.push(yield* Effect.forEach(list, (entry) => isMatch(one, entry, names)))
  const takenBy = new Map<number, number>()
  const place = (i: number, tried: Set<number>): boolean =>
    list.some((_, j) => {
      if (!fits[i]![j] || tried.has(j)) return false
      tried.add(j)
      const holder = takenBy.get(j)
      if (holder !== undefined && !place(holder, tried)) return false
      takenBy.set(j, i)
      return true
    })
  return wanted.filter((_, i) => !place(i, new Set()))
})

/** What is wrong with the entry that comes nearest to a wanted one; nothing where none has anything in common with it. */
const nearest = Effect.fnUntraced(function* (one: unknown, list: ReadonlyArray<unknown>, names: Names, path: string) {
  const wrong = yield* Effect.forEach(list, (entry, i) => match(one, entry, names, at(path, i)))
  const [strangest] = yield* match(one, {}, names, path).pipe(Effect.map((found) => [found.length]))
  const closest = wrong.reduce((a, b) => (b.length < a.length ? b : a), wrong[0] ?? [])
  return closest.length < (strangest ?? 0) ? closest : []
})

type Operator = (operand: unknown, actual: unknown, names: Names, path: string) => Matching

const listed = (operand: unknown): ReadonlyArray<unknown> => (Array.isArray(operand) ? operand : [operand])

/** `$contains`, and `$unordered` where nothing else may be there. */
const holding =
  (isWhole: boolean): Operator =>
  (operand, actual, names, path) => {
    if (!Array.isArray(actual)) return Effect.succeed(unless(false, path, "a list", actual))
    const wanted = listed(operand)
    return Effect.gen(function* () {
      const missing = yield* assign(wanted, actual, names)
      const found = yield* Effect.forEach(missing, (one) => nearest(one, actual, names, path))
      return [
        ...missing.flatMap((one, i) => [
          ...unless(false, path, `an entry ${shown(one)}`, `none of ${actual.map(shown).join(", ") || "no entries"}`),
          ...found[i]!
        ]),
        ...unless(!isWhole || wanted.length === actual.length, at(path, "length"), wanted.length, actual.length)
      ]
    })
  }

/** What an object with a single field such as `$not` expects. */
export const operators: Readonly<Record<string, Operator>> = {
  $not: (operand, actual, names, path) =>
    Effect.map(isMatch(operand, actual, names), (isMet) => unless(!isMet, path, `not ${shown(operand)}`, actual)),
  $length: (operand, actual, names, path) =>
    Array.isArray(actual) || isText(actual)
      ? match(operand, actual.length, names, at(path, "length"))
      : Effect.succeed(unless(false, path, "a list", actual)),
  $contains: holding(false),
  $unordered: holding(true),
  $exactly: (operand, actual, names, path) =>
    Effect.map(match(operand, actual, names, path), (found) => {
      const extra =
        isObject(operand) && isObject(actual)
          ? Object.keys(actual).filter((field) => !Object.hasOwn(operand, field))
          : []
      return [
        ...found,
        ...extra.flatMap((field) =>
          unless(false, at(path, field), "(absent)", (actual as Record<string, unknown>)[field])
        )
      ]
    }),
  $one_of: (operand, actual, names, path) =>
    Effect.map(
      Effect.exists(listed(operand), (one) => isMatch(one, actual, names)),
      (isMet) => unless(isMet, path, `one of ${listed(operand).map(shown).join(", ")}`, actual)
    )
}

/** Up to here each entry is compared with each, to find those that belong together; longer lists are compared by their places. */
const MOST_COMPARED = 10_000

/** How little two entries have in common, from 0 to 1; entries with different ids are different things. */
const distance = Effect.fnUntraced(function* (
  expected: unknown,
  actual: unknown,
  names: Names
): Effect.fn.Return<number, NameUnknown> {
  const wrong = yield* match(expected, actual, names)
  if (wrong.length === 0) return 0
  const [most, hasOtherId] = [yield* match(expected, {}, names), wrong.some(({ path }) => path === "id")]
  return hasOtherId ? 1 : Math.min(1, wrong.length / Math.max(1, most.length))
})

const pairsOf = Effect.fnUntraced(function* (
  expected: ReadonlyArray<unknown>,
  actual: ReadonlyArray<unknown>,
  names: Names
): Effect.fn.Return<ReadonlyArray<Pair>, NameUnknown> {
  const isShort = expected.length * actual.length <= MOST_COMPARED
  const costs = yield* Effect.forEach(expected, (one, i) =>
    Effect.forEach(actual, (other, j) => (isShort ? distance(one, other, names) : Effect.succeed(i === j ? 0 : 1)))
  )
  return alignLists(expected.length, actual.length, (i, j) => costs[i]![j]!)
})

const matchList = Effect.fnUntraced(function* (
  expected: ReadonlyArray<unknown>,
  actual: unknown,
  names: Names,
  path: string
): Effect.fn.Return<Found, NameUnknown> {
  if (!Array.isArray(actual)) return unless(false, path, "a list", actual)
  const found: Array<Mismatch> = []
  for (const { expected: i, actual: j } of yield* pairsOf(expected, actual, names)) {
    if (i === undefined) found.push(...unless(false, at(path, j!), NOTHING, actual[j!]))
    else if (j === undefined) found.push(...unless(false, at(path, i), expected[i], NOTHING))
    else found.push(...(yield* match(expected[i], actual[j], names, at(path, j))))
  }
  return found
})

const matchFields = (
  expected: Readonly<Record<string, unknown>>,
  actual: unknown,
  names: Names,
  path: string
): Matching => {
  const [first, ...others] = Object.keys(expected)
  const operator =
    first !== undefined && others.length === 0 && Object.hasOwn(operators, first) ? operators[first] : undefined
  if (operator !== undefined) return operator(expected[first!], actual, names, path)
  if (!isObject(actual)) return Effect.succeed(unless(false, path, expected, actual))
  return Effect.map(
    Effect.forEach(Object.entries(expected), ([field, inner]) =>
      match(inner, Object.hasOwn(actual, field) ? actual[field] : undefined, names, at(path, field))
    ),
    (found) => found.flat()
  )
}

/**
 * What of a value is not as expected. Objects may have more fields than are expected; lists are compared entry by
 * entry, all of them, in order. Texts may hold references, kinds (`$uuid`), patterns (`/^wk_/`) and bounds (`<= 20`).
 */
export const match = (expected: unknown, actual: unknown, names: Names, path = ""): Matching => {
  if (isText(expected)) return matchText(expected, actual, names, path)
  if (Array.isArray(expected)) return matchList(expected, actual, names, path)
  if (isObject(expected)) return matchFields(expected, actual, names, path)
  return Effect.succeed(unless(Object.is(expected, actual), path, expected, actual))
}
