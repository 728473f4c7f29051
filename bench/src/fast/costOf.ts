const ROUNDS = 15
const TIMES = 10_000

/**
 * The processor time of one call in microseconds. It is the least of several rounds, so that other work on the machine
 * has little effect.
 */
export const costOf = (
  work: (n: number) => unknown,
  { times = TIMES, between }: { readonly times?: number; readonly between?: () => void } = {}
): number => {
  let min = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    between?.()
    const before = process.cpuUsage()
    for (let n = 0; n < times; n++) work(n)
    const { user, system } = process.cpuUsage(before)
    min = Math.min(min, (user + system) / times)
  }
  return min
}
