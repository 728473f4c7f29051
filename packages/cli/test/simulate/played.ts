import * as MemoryStore from "@workshop/store-memory"
import { Effect } from "effect"
import type { Trace } from "../../src/simulate/auditor/Trace.js"
import { inProcessEnvironment, simulatedService } from "../../src/simulate/Environment.js"
import { observersOf, simulation } from "../../src/simulate/simulation.js"

/** A simulation on a memory store of its own. */
export const played = async (
  seed: number,
  { steps, shops = 3 }: { readonly steps: number; readonly shops?: number }
): Promise<{ readonly trace: Trace; readonly digest: string }> => {
  const observers = observersOf(seed)
  const control = { isOver: () => false, progress: () => Effect.void }
  const trace = await Effect.runPromise(
    Effect.flatMap(inProcessEnvironment, (environment) =>
      simulation(environment, observers, { seed, steps, shops }, control)
    ).pipe(Effect.provide(simulatedService(MemoryStore.layer, seed, observers.receivers)), Effect.scoped)
  )
  return { trace, digest: observers.recorder.digest() }
}
