import * as MemoryStore from "@workshop/store-memory"
import { type SimulationResult, simulateStore } from "@workshop/testers/simulate"
import { Effect } from "effect"

/** Runs a simulation on a new memory store. */
export const runSimulation = (
  seed: number,
  { steps, shops = 3 }: { readonly steps: number; readonly shops?: number }
): Promise<SimulationResult> => Effect.runPromise(simulateStore({ store: MemoryStore.layer, seed, steps, shops }))
