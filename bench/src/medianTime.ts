import { Effect } from "effect"
import { median } from "./Median.js"

/** The median duration of work in milliseconds, over `times` runs one after another. */
export const medianTime = <A, E, R>(times: number, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const durations: Array<number> = []
    for (let i = 0; i < times; i++) {
      const begun = performance.now()
      yield* work
      durations.push(performance.now() - begun)
    }
    return median(durations)
  })
