/** The value in the middle; of two in the middle, the mean. */
export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** The value below which a share of the values lies, between two of them in proportion. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return low + (high - low) * (at - Math.floor(at))
}
