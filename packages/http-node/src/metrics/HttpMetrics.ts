import { Policies } from "@workshop/core"
import type { ObservedResponse, RequestContext, RequestObserver } from "@workshop/core/http"
import { Clock, Effect, Metric, MetricBoundaries, MetricLabel } from "effect"
import { markLogs } from "../fast/markLogs.js"

/** The upper bounds of the buckets of request durations, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const requests = Metric.counter("workshop_http_requests_total", {
  description:
    "Requests that ended, by method, route and status. The status is aborted if the client disconnected before the response.",
  incremental: true
})

const durations = Metric.histogram(
  "workshop_http_request_duration_seconds",
  MetricBoundaries.fromIterable(SECONDS),
  "Seconds from a request's headers to its response."
)

const inFlight = Metric.gauge("workshop_http_requests_in_flight", {
  description: "Requests that have no response yet."
})

const refusals = Metric.counter("workshop_rate_limit_refusals_total", {
  description: "Requests that got a 429, by the policy that refused.",
  incremental: true
})

type Labels = ReadonlyArray<MetricLabel.MetricLabel>

const NONE: Labels = []

/** The label of a route, such as `/v1/tickets/{id}`; `none` for a path without a route. */
export const routeLabel = ({ route }: Pick<RequestContext, "route">): string =>
  route?.replaceAll(/:(\w+)/g, "{$1}") ?? "none"

/**
 * The label of a method. Unknown methods become `other`, because each text that a client sends would otherwise be a new
 * time series.
 */
export const methodLabel = (method: string): string => (METHODS.has(method) ? method : "other")

const memoize = <K, A>(make: (key: K) => A) => {
  const results = new Map<K, A>()
  return (key: K): A => {
    const cached = results.get(key)
    if (cached !== undefined) return cached
    const result = make(key)
    results.set(key, result)
    return result
  }
}

/**
 * The label arrays of a route. Effect caches a metric's time series by the identity of the label array, so the same
 * array must be passed each time. A look-up by the array's contents, or a tagged metric, would cost microseconds per
 * request.
 */
const labelsOfRoute = memoize((route: string) =>
  memoize((method: string) => {
    const labels: Labels = [MetricLabel.make("method", method), MetricLabel.make("route", routeLabel({ route }))]
    return {
      labels,
      ofStatus: memoize((status: number | "aborted"): Labels => [...labels, MetricLabel.make("status", String(status))])
    }
  })
)

const labelsOfPolicy = memoize((policy: string): Labels => [MetricLabel.make("policy", policy)])

/** The clock for durations, which are in real time even if the service uses another clock. */
const real = Clock.make()

/**
 * Counts requests and their durations by the template of their route, never by the requested path, and adds the
 * `Request-Id` to all log lines of a request. Each request must run in its own fiber.
 */
export const makeHttpMetrics = (): RequestObserver => {
  let runningCount = 0
  inFlight.unsafeUpdate(0, NONE)
  for (const policy of Object.keys(Policies)) refusals.unsafeUpdate(0, labelsOfPolicy(policy))
  return ({ method }, context, respond) =>
    Effect.withFiberRuntime((fiber) => {
      const began_ns = real.unsafeCurrentTimeNanos()
      inFlight.unsafeUpdate(++runningCount, NONE)
      markLogs(fiber, context.id)
      let response: ObservedResponse | undefined
      fiber.addObserver(() => {
        inFlight.unsafeUpdate(--runningCount, NONE)
        const { route } = response?.context ?? context
        const { labels, ofStatus } = labelsOfRoute(route ?? "none")(methodLabel(method))
        requests.unsafeUpdate(1, ofStatus(response?.status ?? "aborted"))
        durations.unsafeUpdate(Number(real.unsafeCurrentTimeNanos() - began_ns) / 1e9, labels)
        const failure = response?.failure
        if (failure?._tag === "LimitReached") refusals.unsafeUpdate(1, labelsOfPolicy(failure.decisive.policy))
      })
      return Effect.map(respond, (observed) => {
        response = observed
        return observed
      })
    })
}
