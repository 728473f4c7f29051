/** How many letters must be added, dropped or replaced to turn one name into the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** The name that somebody most likely meant; undefined where none comes near. */
export const nearestName = (written: string, names: ReadonlyArray<string>): string | undefined => {
  const most = written.length < 3 ? 0 : Math.floor((written.length + 1) / 3)
  const ranked = names
    .map((name) => ({ name, far: distance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far)
  return ranked[0]?.name
}

/** `; did you mean "create ticket"?`, or nothing. */
export const didYouMean = (written: string, names: ReadonlyArray<string>): string => {
  const name = nearestName(written, names)
  return name === undefined ? "" : `; did you mean "${name}"?`
}
