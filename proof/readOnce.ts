import { Effect } from "effect"

/** A body as a server has it once it has arrived: the first call reads it, and there is nothing left for others. */
export const readOnce = (bytes: Uint8Array): (() => Effect.Effect<Uint8Array>) => {
  let left = bytes
  return () => {
    const read = left
    left = new Uint8Array()
    return Effect.succeed(read)
  }
}
