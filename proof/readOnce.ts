import { Effect } from "effect"

/**
 * Returns a function that reads a body like that of a server: the first call returns all bytes, and later calls return
 * none.
 */
export const readOnce = (bytes: Uint8Array): (() => Effect.Effect<Uint8Array>) => {
  let left = bytes
  return () => {
    const read = left
    left = new Uint8Array()
    return Effect.succeed(read)
  }
}
