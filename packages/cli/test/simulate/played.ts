import type { Trace } from "@workshop/cli/simulate/auditor/Trace"
import { inProcessEnvironment, simulatedService } from "@workshop/cli/simulate/Environment"
import { observersOf, simulation } from "@workshop/cli/simulate/simulation"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Effect } from "effect"

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
