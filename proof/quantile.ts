/** The quantile of numbers at a share, such as the median at 0.5; 0 for an empty list. */
export const quantile = (all: ReadonlyArray<number>, share: number): number => {
  const sorted = [...all].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
