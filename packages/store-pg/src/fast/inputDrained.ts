import { Effect } from "effect"

/** Waits until all requests and answers are read that the process has received by now, so that they share a batch. */
export const inputDrained: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
