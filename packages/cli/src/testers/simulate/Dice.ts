import { PCGRandom } from "effect/Utils"

/** Draws that follow from a seed: the same seed, the same draws. */
export class Dice {
  readonly #random: PCGRandom

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.#random.integer(most - least + 1)
  }

  /** True so often: 0 never, 1 always. */
  chance(share: number): boolean {
    return this.#random.number() < share
  }

  /** One of several; undefined where there are none. */
  pick<A>(all: ReadonlyArray<A>): A | undefined {
    return all.length === 0 ? undefined : all[this.#random.integer(all.length)]
  }

  /** One of several that are there. */
  oneOf<A>(all: readonly [A, ...ReadonlyArray<A>]): A {
    return all[this.#random.integer(all.length)] ?? all[0]
  }

  /** One of several, each as often as its weight says. */
  weighted<A extends { readonly weight: number }>(all: readonly [A, ...ReadonlyArray<A>]): A {
    let left = this.#random.number() * all.reduce((sum, { weight }) => sum + weight, 0)
    for (const one of all) {
      left -= one.weight
      if (left < 0) return one
    }
    return all[0]
  }
}
