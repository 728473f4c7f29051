import type { Entropy, StorePorts, StoreUnavailable } from "@workshop/core"
import { Effect, type Layer } from "effect"
import type { EnvironmentFailed } from "../testkit/Api.js"
import { audit } from "./auditor/audit.js"
import type { Trace, Violation } from "./auditor/Trace.js"
import { inProcessSimulation, simulatedServiceLayer } from "./SimulationEnvironment.js"
import { makeObservers, runSimulation, type SimulationBounds } from "./simulation.js"

/** The findings of a simulation. */
export interface SimulationResult {
  /** The rules that were broken; empty if the store is correct. */
  readonly violations: ReadonlyArray<Violation>
  /** The digest of the run, which is the same for each run of a seed on a store that begins empty. */
  readonly digest: string
  /** Every request, response and delivery. */
  readonly trace: Trace
}

/** The options of a simulation on a store. */
export interface SimulateStoreOptions<E> extends SimulationBounds {
  /** The layer of the store, which must begin empty. */
  readonly store: Layer.Layer<StorePorts, E, Entropy>
}

/**
 * Runs a simulated week of shops on a store, with the service and its receivers in this process, and lets the auditor
 * check every response, event and delivery. Use it in the tests of your own store. The store must begin empty.
 */
export const simulateStore = <E>(
  options: SimulateStoreOptions<E>
): Effect.Effect<SimulationResult, E | EnvironmentFailed | StoreUnavailable> =>
  Effect.gen(function* () {
    const { store, ...bounds } = options
    const observers = makeObservers(bounds.seed)
    const control = { isOver: () => false, progress: () => Effect.void }
    const trace = yield* Effect.flatMap(inProcessSimulation, (environment) =>
      runSimulation(environment, observers, bounds, control)
    ).pipe(Effect.provide(simulatedServiceLayer(store, bounds.seed, observers.receivers)))
    return { violations: audit(trace), digest: observers.recorder.digest(), trace }
  }).pipe(Effect.scoped)
