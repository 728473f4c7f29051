import { Context, Effect, Layer } from "effect"
import { PCGRandom } from "effect/Utils"
import { pooledBytes } from "../fast/pooledBytes.js"

/** The source of all randomness: identifiers, tracking codes, keys and secrets. */
export class Entropy extends Context.Tag("@workshop/core/Entropy")<
  Entropy,
  {
    /** Returns `n` random bytes. The caller may retain and change the array. */
    readonly bytes: (n: number) => Uint8Array
  }
>() {
  /** The system's own random source, through the web-standard `crypto`. */
  static readonly layer = Layer.sync(Entropy, () => Entropy.of({ bytes: pooledBytes() }))

  /** Bytes that are derived from a seed, so a run can be repeated. For tests and simulations only, because they can be guessed. */
  static readonly seededBytes = (seed: number): ((n: number) => Uint8Array) => {
    const random = new PCGRandom(seed)
    return (n) => Uint8Array.from({ length: n }, () => random.integer(256))
  }

  /** A layer with `seededBytes`. */
  static readonly layerSeeded = (seed: number) =>
    Layer.sync(Entropy, () => Entropy.of({ bytes: Entropy.seededBytes(seed) }))

  /** Draws `n` random bytes as an effect. */
  static readonly draw = (n: number) => Effect.map(Entropy, ({ bytes }) => bytes(n))
}
