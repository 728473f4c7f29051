/**
 * The number of edits that turn one name into the other: adding, removing or replacing a letter, or swapping it with
 * the next.
 */
export const editDistance = (a: string, b: string): number => {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const cellAt = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const replaced = cellAt(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? cellAt(i - 2, j - 2) + 1 : replaced
      rows[i]![j] = Math.min(replaced, swapped, cellAt(i - 1, j) + 1, cellAt(i, j - 1) + 1)
    }
  }
  return cellAt(a.length, b.length)
}

/** The most similar name; undefined if none is similar enough. */
export const findNearestName = (written: string, names: ReadonlyArray<string>): string | undefined => {
  const max = written.length < 3 ? 0 : Math.floor((written.length + 1) / 3)
  const ranked = names
    .map((name) => ({ name, far: editDistance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ far }) => far <= max)
    .sort((a, b) => a.far - b.far)
  return ranked[0]?.name
}
