/** The distribution function of the standard normal distribution, to seven decimals (Abramowitz and Stegun 26.2.17). */
const normal = (z: number): number => {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return z >= 0 ? 1 - tail : tail
}

/**
 * The two-sided Mann-Whitney U test by its normal approximation, with ties: the probability that two samples of the
 * same distribution differ at least as much as these.
 */
export const mannWhitney = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))]
  all.sort((one, other) => one.value - other.value)
  const n = all.length
  let ranks = 0
  let ties = 0
  for (let i = 0; i < n; ) {
    let end = i
    while (end < n && all[end]!.value === all[i]!.value) end++
    const rank = (i + end + 1) / 2
    ties += (end - i) ** 3 - (end - i)
    for (; i < end; i++) if (all[i]!.isA) ranks += rank
  }
  const u = ranks - (a.length * (a.length + 1)) / 2
  const mean = (a.length * b.length) / 2
  const deviation = Math.sqrt(((a.length * b.length) / 12) * (n + 1 - ties / (n * (n - 1))))
  return deviation === 0 ? 1 : 2 * (1 - normal(Math.abs(u - mean) / deviation))
}
