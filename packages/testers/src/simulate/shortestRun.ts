import { Effect } from "effect"
import { audit } from "./auditor/audit.js"
import type { Trace } from "./auditor/Trace.js"

/** A run of a simulation, and the number of its steps. */
interface SimulationRun {
  readonly trace: Trace
  readonly steps: number
}

/**
 * The shortest run of a seed that breaks the same rule as a given run, found by halving the number of steps. This works
 * because a longer run begins with the steps of a shorter one. `repeat` plays the same seed with fewer steps, on a
 * service that begins empty.
 */
export const findShortestRun = <E, R>(
  run: SimulationRun,
  rule_at: string,
  repeat: (steps: number) => Effect.Effect<Trace, E, R>
): Effect.Effect<SimulationRun, E, R> =>
  Effect.gen(function* () {
    let best = run
    for (let good = 0; best.steps - good > 1; ) {
      const steps = Math.floor((good + best.steps) / 2)
      const trace = yield* repeat(steps)
      if (audit(trace).some((violation) => violation.rule_at === rule_at)) best = { trace, steps }
      else good = steps
    }
    return best
  })
