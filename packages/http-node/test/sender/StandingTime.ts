import { onTestFinished, vi } from "vitest"

/** Fakes timers and the monotonic clock until the test ends, so that time passes only when the test moves it. Sockets work as usual. */
export const standingTime = (): ((to_ms: number) => Promise<void>) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const begun = process.hrtime.bigint()
  let passed_ms = 0
  vi.spyOn(process.hrtime, "bigint").mockImplementation(() => begun + BigInt(passed_ms) * 1_000_000n)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  return async (to_ms) => {
    const step_ms = to_ms - passed_ms
    passed_ms = to_ms
    await vi.advanceTimersByTimeAsync(step_ms)
  }
}

/** Runs turns of the event loop until `look` returns a value, and returns that. */
export const come = async <A>(look: () => A | undefined): Promise<A> => {
  for (let turns = 0; turns < 200_000; turns++) {
    const found = look()
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error("waited in vain")
}
