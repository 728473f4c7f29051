import { Entropy } from "@workshop/core"
import { Clock, Effect, Layer } from "effect"

/** A clock of your own: here the real one, put off by so many milliseconds, such as that of a machine that is known to be slow. */
export const shifted = (ms: number): Clock.Clock => {
  const real = Clock.make()
  const now = () => real.unsafeCurrentTimeMillis() + ms
  return {
    ...real,
    sleep: real.sleep,
    unsafeCurrentTimeMillis: now,
    unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos() + BigInt(ms) * 1_000_000n,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanos: Effect.sync(() => real.unsafeCurrentTimeNanos() + BigInt(ms) * 1_000_000n)
  }
}

/**
 * A source of ids of your own, such as a hardware generator's. Ids, tracking codes, keys and secrets all come of these
 * bytes, so they must be as hard to guess as the system's; for tests there is `Entropy.layerSeeded`.
 */
export const entropyFrom = (fill: (bytes: Uint8Array<ArrayBuffer>) => void): Layer.Layer<Entropy> =>
  Layer.succeed(
    Entropy,
    Entropy.of({
      bytes: (n) => {
        const bytes = new Uint8Array(n)
        fill(bytes)
        return bytes
      }
    })
  )
