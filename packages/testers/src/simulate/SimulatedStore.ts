import type { Entropy, StorePorts } from "@workshop/core"
import { Context, type Layer } from "effect"

/** A layer of a store. */
type StoreLayer<E> = Layer.Layer<StorePorts, E, Entropy>

/** Replaces the store of every simulation in this process. By default it is not replaced; tests add faults to it. */
export class SimulatedStore extends Context.Reference<SimulatedStore>()("@workshop/testers/SimulatedStore", {
  defaultValue:
    () =>
    <E>(store: StoreLayer<E>): StoreLayer<E> =>
      store
}) {}
