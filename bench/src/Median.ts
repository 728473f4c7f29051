/** The middle value; with an even number of values, the mean of the two in the middle. */
export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** The quantile of values at a share, interpolated between the two nearest values. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return low + (high - low) * (at - Math.floor(at))
}
