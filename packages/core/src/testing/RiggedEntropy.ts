import type { Context } from "effect"
import { Effect, Layer } from "effect"
import { PCGRandom } from "effect/Utils"
import { Entropy } from "../ports/Entropy.js"

/** Seeded entropy that can repeat its last draw, to test how a store handles a random code that is already used. */
export class RiggedEntropy implements Context.Tag.Service<Entropy> {
  readonly #random: PCGRandom
  readonly #last = new Map<number, Uint8Array>()
  #repeats = 0

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  /**
   * Returns `n` bytes: the next ones of the seed, or again the last ones of that length while {@link repeat} asks for
   * it.
   */
  readonly bytes = (n: number): Uint8Array => {
    const lastBytes = this.#last.get(n)
    if (this.#repeats > 0 && lastBytes !== undefined) {
      this.#repeats--
      return lastBytes.slice()
    }
    const freshBytes = Uint8Array.from({ length: n }, () => this.#random.integer(256))
    this.#last.set(n, freshBytes)
    return freshBytes.slice()
  }

  /** Makes the next `times` draws return the bytes of the last draw of that length. */
  repeat(times: number): void {
    this.#repeats = times
  }

  /** A layer with this entropy. */
  get layer(): Layer.Layer<Entropy> {
    return Layer.succeed(Entropy, this)
  }

  /** The entropy of the running effect, which must be a `RiggedEntropy`. */
  static readonly current: Effect.Effect<RiggedEntropy, never, Entropy> = Effect.flatMap(Entropy, (entropy) =>
    entropy instanceof RiggedEntropy
      ? Effect.succeed(entropy)
      : Effect.dieMessage("The contract suite needs a RiggedEntropy: run it with runContract, or on `entropy.layer`")
  )
}
