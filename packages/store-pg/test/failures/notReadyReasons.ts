import { Probes } from "@workshop/core"
import { Effect } from "effect"

/** Provides new probes to an effect. */
export const withProbes = Effect.provide(Probes.layer)

/** The reasons for which the nodes are not ready. */
export const complaints: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const all = [...((yield* Probes) ?? [])].flatMap(({ complaint }) => (complaint === undefined ? [] : [complaint]))
  return (yield* Effect.all(all)).filter((one) => one !== null)
})
