import type { Evidence } from "@workshop/cli/simulate/auditor/Evidence"
import { inProcessFace, layer } from "@workshop/cli/simulate/InProcessFace"
import { cast, simulation } from "@workshop/cli/simulate/simulation"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Effect } from "effect"

/** A simulation on a memory store of its own. */
export const played = async (
  seed: number,
  { steps, shops = 3 }: { readonly steps: number; readonly shops?: number }
): Promise<{ readonly evidence: Evidence; readonly digest: string }> => {
  const company = cast(seed)
  const course = { isOver: () => false, progress: () => Effect.void, token: null }
  const evidence = await Effect.runPromise(
    Effect.flatMap(inProcessFace, (face) => simulation(face, company, { seed, steps, shops }, course)).pipe(
      Effect.provide(layer(MemoryStore.layer, seed, company.receivers)),
      Effect.scoped
    )
  )
  return { evidence, digest: company.witness.digest() }
}
