/*
 * Replaces the start of a batch as soon as the first request was read, which would make batches of one command while requests arrive
 * together. Without it, the process took 155 µs of processor time in place of 145 µs for a delivery (docs/how-it-is-built.md).
 * test/fast/drainInput.test.ts proves that the batches contain every command once, in the order of arrival.
 */

import { Effect } from "effect"

/**
 * Waits until the process has handled all input that has arrived, so that the commands of these requests share a batch.
 */
export const drainInput: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
