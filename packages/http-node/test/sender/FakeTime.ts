import { onTestFinished, vi } from "vitest"

/** Replaces timers and the monotonic clock until the test ends. Returns a function that advances both to an instant. Sockets are real. */
export const fakeTime = (): ((to_ms: number) => Promise<void>) => {
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

/** Waits for a result of `look` other than undefined, for at most 200,000 turns of the event loop. */
export const waitFor = async <A>(read: () => A | undefined): Promise<A> => {
  for (let turns = 0; turns < 200_000; turns++) {
    const result = read()
    if (result !== undefined) return result
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error("The expected result never came")
}
