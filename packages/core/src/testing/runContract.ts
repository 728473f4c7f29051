import { describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Entropy } from "../ports/Entropy.js"
import type { StorePorts } from "../ports/StorePorts.js"
import { RiggedEntropy } from "./RiggedEntropy.js"
import { SettableClock, TEST_START } from "./SettableClock.js"
import { storeContract } from "./StoreContract.js"

/** How a contract run may differ from the usual. */
export interface ContractRun {
  /** From which all randomness of the run follows. Take another one for each run on data that stays. */
  readonly seed?: number
  /** How long one case may take, in milliseconds. */
  readonly timeout_ms?: number
}

/**
 * Runs the store contract as Vitest tests on a store. The layer is built once, for all cases; it gets its entropy,
 * and its clock, from here.
 */
export const runContract = <E>(
  name: string,
  store: Layer.Layer<StorePorts, E, Entropy>,
  { seed = 1, timeout_ms = 30_000 }: ContractRun = {}
): void => {
  const clock = new SettableClock()
  const entropy = new RiggedEntropy(seed)
  const whole = Layer.provideMerge(store, Layer.merge(entropy.layer, clock.layer))

  layer(whole, { excludeTestServices: true, timeout: timeout_ms })(
    `${name} keeps the store contract (seed ${seed})`,
    (it) => {
      for (const [subject, cases] of Object.entries(storeContract)) {
        describe(subject, () => {
          for (const { name, effect } of cases) {
            it.effect(
              name,
              () =>
                Effect.zipRight(
                  Effect.sync(() => clock.set(TEST_START)),
                  Effect.withClock(effect, clock)
                ),
              timeout_ms
            )
          }
        })
      }
    }
  )
}
