import { PCGRandom } from "effect/Utils"

/** Random draws from a seed. The same seed gives the same draws. */
export class Dice {
  readonly #random: PCGRandom

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  /** A whole number from `min` to `max`, both included. */
  integerBetween(min: number, max: number): number {
    return min + this.#random.integer(max - min + 1)
  }

  /** True with this probability, from 0 to 1. */
  chance(share: number): boolean {
    return this.#random.number() < share
  }

  /** Draws one of several; undefined if there are none. */
  pick<A>(items: ReadonlyArray<A>): A | undefined {
    return items.length === 0 ? undefined : items[this.#random.integer(items.length)]
  }

  /** Draws one of a list that is not empty. */
  oneOf<A>(items: readonly [A, ...ReadonlyArray<A>]): A {
    return items[this.#random.integer(items.length)] ?? items[0]
  }

  /** Draws one of several, with probabilities in proportion to their weights. */
  pickWeighted<A extends { readonly weight: number }>(items: readonly [A, ...ReadonlyArray<A>]): A {
    let remainingWeight = this.#random.number() * items.reduce((sum, { weight }) => sum + weight, 0)
    for (const item of items) {
      remainingWeight -= item.weight
      if (remainingWeight < 0) return item
    }
    return items[0]
  }
}
