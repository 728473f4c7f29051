import { Effect } from "effect"

/** Waits until the process has read all requests and responses that it has received by now, so that they share a batch. */
export const inputDrained: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
