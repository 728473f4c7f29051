import { PCGRandom } from "effect/Utils"

/** Random draws from a seed. The same seed gives the same draws. */
export class Dice {
  readonly #random: PCGRandom

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.#random.integer(max - min + 1)
  }

  /** True with this probability, from 0 to 1. */
  chance(share: number): boolean {
    return this.#random.number() < share
  }

  /** Draws one of several; undefined if there are none. */
  pick<A>(all: ReadonlyArray<A>): A | undefined {
    return all.length === 0 ? undefined : all[this.#random.integer(all.length)]
  }

  /** Draws one of a list that is not empty. */
  oneOf<A>(all: readonly [A, ...ReadonlyArray<A>]): A {
    return all[this.#random.integer(all.length)] ?? all[0]
  }

  /** Draws one of several, with probabilities in proportion to their weights. */
  pickWeighted<A extends { readonly weight: number }>(all: readonly [A, ...ReadonlyArray<A>]): A {
    let left = this.#random.number() * all.reduce((sum, { weight }) => sum + weight, 0)
    for (const one of all) {
      left -= one.weight
      if (left < 0) return one
    }
    return all[0]
  }
}
