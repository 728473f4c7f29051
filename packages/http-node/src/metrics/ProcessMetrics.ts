import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { probe } from "@workshop/core"
import type { Mountable } from "@workshop/core/http"
import { Effect, Exit, Metric, Runtime, Scope } from "effect"

/** The resolution of the measured event-loop delays, in milliseconds. Node's measured delays include it. */
const RESOLUTION_MS = 20

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const uptime = gauge("process_uptime_seconds", "Seconds since the process started.")
const resident = gauge("process_resident_memory_bytes", "Resident memory of the process, in bytes.")
const heapUsed = gauge("nodejs_heap_size_used_bytes", "Memory that JavaScript objects use, in bytes.")
const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time that the process used in user and system mode, in seconds."
})
const lag = gauge(
  "nodejs_eventloop_lag_seconds",
  "Delay of the event loop since the last scrape, in seconds, by quantile. The quantile 1 is the longest delay."
)

const QUANTILES = [0.5, 0.99, 1].map((quantile) => ({
  quantile,
  metric: Metric.tagged(lag, "quantile", String(quantile))
}))

const latenessOf = (delays: IntervalHistogram, quantile: number): number => {
  const late_ns = delays.count === 0 ? 0 : delays.percentile(quantile * 100) - RESOLUTION_MS * 1e6
  return Math.max(0, late_ns) / 1e9
}

/** Adds metrics of the process: uptime, memory, processor time, and the delay of the event loop. */
export const processMetrics: Effect.Effect<void, never, Scope.Scope> = Effect.gen(function* () {
  const delays = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => void histogram.disable())
  )
  let reported_s = 0
  const measure = Effect.gen(function* () {
    const { rss, heapUsed: used } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const spent_s = (user + system) / 1e6
    yield* Metric.set(uptime, process.uptime())
    yield* Metric.set(resident, rss)
    yield* Metric.set(heapUsed, used)
    yield* Metric.incrementBy(cpu, spent_s - reported_s)
    reported_s = spent_s
    for (const { quantile, metric } of QUANTILES) yield* Metric.set(metric, latenessOf(delays, quantile))
    delays.reset()
  })
  yield* probe({ measure })
})

/**
 * {@link processMetrics} for a program without Effect. From then on `workshop.metrics()` includes the process, until
 * the returned function is called. A program whose workshop runs as long as the process need not call it.
 */
export const collectProcessMetrics = (workshop: Pick<Mountable, "runtime">): (() => void) => {
  const scope = Effect.runSync(Scope.make())
  Runtime.runSync(workshop.runtime)(Scope.extend(processMetrics, scope))
  return () => Effect.runSync(Scope.close(scope, Exit.void))
}
