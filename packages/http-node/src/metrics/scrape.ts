import { Probes } from "@workshop/core"
import { Clock, Effect, Metric } from "effect"
import { exposition } from "./exposition.js"

/** How long gauges may take to be brought up to date, in real time; what is late shows what it last knew. */
const MEASURING = "2 seconds"

/** All metrics of the process as Prometheus reads them (Specification, Commands). */
export const scrape: Effect.Effect<string> = Effect.gen(function* () {
  const probes = [...((yield* Probes) ?? [])]
  const measured = Effect.forEach(probes, ({ measure = Effect.void }) => measure, { concurrency: "unbounded" })
  yield* Effect.withClock(Effect.timeoutOption(measured, MEASURING), Clock.make())
  return exposition(Metric.unsafeSnapshot())
})
