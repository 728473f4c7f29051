import { Effect } from "effect"
import { isText, matchText } from "./ExpectedText.js"
import { at, type Found, isObject, type Mismatch, shown, unless } from "./Mismatch.js"
import type { Names, ReferenceUnknown } from "./references.js"

/** An expected entry beside the one that was found for it; undefined where there is none. */
interface Pair {
  readonly expected: number | undefined
  readonly actual: number | undefined
}

/** Leaving an entry without a partner; two of them cost as much as a pair that has nothing in common. */
const ALONE = 0.5

/**
 * Lays two lists beside each other in order, so that one missing or surplus entry does not make all later ones differ.
 * `cost` says how little two entries have in common: 0 where they match, 1 where nothing does.
 */
const alignLists = (
  expected: number,
  actual: number,
  cost: (expected: number, actual: number) => number
): ReadonlyArray<Pair> => {
  const best = Array.from({ length: expected + 1 }, () => new Array<number>(actual + 1).fill(0))
  const bestAt = (i: number, j: number): number => best[i]?.[j] ?? Number.POSITIVE_INFINITY
  const paired = (i: number, j: number): number =>
    i < expected && j < actual ? cost(i, j) + bestAt(i + 1, j + 1) : Number.POSITIVE_INFINITY
  for (let i = expected; i >= 0; i--) {
    for (let j = actual; j >= 0; j--) {
      if (i === expected && j === actual) continue
      best[i]![j] = Math.min(paired(i, j), ALONE + bestAt(i + 1, j), ALONE + bestAt(i, j + 1))
    }
  }
  const pairs: Array<Pair> = []
  for (let [i, j] = [0, 0]; i < expected || j < actual; ) {
    const isPair = bestAt(i, j) === paired(i, j)
    const isMissing = !isPair && bestAt(i, j) === ALONE + bestAt(i + 1, j)
    pairs.push({ expected: isPair || isMissing ? i : undefined, actual: isMissing ? undefined : j })
    i += isPair || isMissing ? 1 : 0
    j += isMissing ? 0 : 1
  }
  return pairs
}

/** What stands beside an entry that has no partner. */
const NOTHING = "(no such entry)"

type Matching = Effect.Effect<Found, ReferenceUnknown>

const isMatch = (expected: unknown, actual: unknown, names: Names): Effect.Effect<boolean, ReferenceUnknown> =>
  Effect.map(match(expected, actual, names), (found) => found.length === 0)

/** Finds each wanted entry an entry of its own, trying others where a first choice leaves a later one without. */
const assign = Effect.fnUntraced(function* (
  wanted: ReadonlyArray<unknown>,
  list: ReadonlyArray<unknown>,
  names: Names
): Effect.fn.Return<ReadonlyArray<unknown>, ReferenceUnknown> {
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
): Effect.fn.Return<number, ReferenceUnknown> {
  const wrong = yield* match(expected, actual, names)
  if (wrong.length === 0) return 0
  const [most, hasOtherId] = [yield* match(expected, {}, names), wrong.some(({ path }) => path === "id")]
  return hasOtherId ? 1 : Math.min(1, wrong.length / Math.max(1, most.length))
})

const pairsOf = Effect.fnUntraced(function* (
  expected: ReadonlyArray<unknown>,
  actual: ReadonlyArray<unknown>,
  names: Names
): Effect.fn.Return<ReadonlyArray<Pair>, ReferenceUnknown> {
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
): Effect.fn.Return<Found, ReferenceUnknown> {
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
