/** An expected entry beside the one that was found for it; undefined where there is none. */
export interface Pair {
  readonly expected: number | undefined
  readonly actual: number | undefined
}

/** Leaving an entry without a partner; two of them cost as much as a pair that has nothing in common. */
const ALONE = 0.5

/**
 * Lays two lists beside each other in order, so that one missing or surplus entry does not make all later ones differ.
 * `cost` says how little two entries have in common: 0 where they match, 1 where nothing does.
 */
export const alignLists = (
  expected: number,
  actual: number,
  cost: (expected: number, actual: number) => number
): ReadonlyArray<Pair> => {
  const best = Array.from({ length: expected + 1 }, () => new Array<number>(actual + 1).fill(0))
  const at = (i: number, j: number): number => best[i]?.[j] ?? Number.POSITIVE_INFINITY
  const paired = (i: number, j: number): number =>
    i < expected && j < actual ? cost(i, j) + at(i + 1, j + 1) : Number.POSITIVE_INFINITY
  for (let i = expected; i >= 0; i--) {
    for (let j = actual; j >= 0; j--) {
      if (i === expected && j === actual) continue
      best[i]![j] = Math.min(paired(i, j), ALONE + at(i + 1, j), ALONE + at(i, j + 1))
    }
  }
  const pairs: Array<Pair> = []
  for (let [i, j] = [0, 0]; i < expected || j < actual; ) {
    const isPair = at(i, j) === paired(i, j)
    const isMissing = !isPair && at(i, j) === ALONE + at(i + 1, j)
    pairs.push({ expected: isPair || isMissing ? i : undefined, actual: isMissing ? undefined : j })
    i += isPair || isMissing ? 1 : 0
    j += isMissing ? 0 : 1
  }
  return pairs
}
