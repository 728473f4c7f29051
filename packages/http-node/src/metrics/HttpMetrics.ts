import { Policies } from "@workshop/core/domain/Limits"
import type { Departure } from "@workshop/core/http/Arrival"
import type { Watch } from "@workshop/core/http/Pipeline"
import { Clock, Effect, Exit, FiberRef, HashMap, Metric, MetricBoundaries } from "effect"

/** The upper ends of the buckets of requests' durations, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Any other word that a client sends in their place would be a row of its own. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const requests = Metric.counter("workshop_http_requests_total", {
  description: "Requests answered, by method, route and status; aborted where the client left first.",
  incremental: true
})

const durations = Metric.histogram(
  "workshop_http_request_duration_seconds",
  MetricBoundaries.fromIterable(SECONDS),
  "How long requests took from their head to their answer."
)

const inFlight = Metric.gauge("workshop_http_requests_in_flight", {
  description: "Requests that are being answered."
})

const refusals = Metric.counter("workshop_rate_limit_refusals_total", {
  description: "Requests answered 429, by the policy that refused.",
  incremental: true
})

const NO_TAGS: [] = []

const remembering = <A>(make: (key: string) => A) => {
  const known = new Map<string, A>()
  return (key: string): A => {
    const found = known.get(key) ?? make(key)
    known.set(key, found)
    return found
  }
}

/** `/v1/tickets/:id` as people write it. */
const written = (route: string): string => route.replaceAll(/:(\w+)/g, "{$1}")

const requestsOf = remembering((key) => {
  const [method = "", status = "", route = ""] = key.split(" ")
  return requests.pipe(
    Metric.tagged("method", method),
    Metric.tagged("route", written(route)),
    Metric.tagged("status", status)
  )
})

const durationsOf = remembering((key) => {
  const [method = "", route = ""] = key.split(" ")
  return durations.pipe(Metric.tagged("method", method), Metric.tagged("route", written(route)))
})

const refusalsOf = remembering((policy) => Metric.tagged(refusals, "policy", policy))

const policyIn = ({ body }: Departure): string => JSON.parse(body).error.details.limit

/** Patience is real time, whatever clock the service goes by. */
const real = Clock.make()

/**
 * Counts requests and their durations by the template of their route, never by the path that was sent, and marks all
 * that is logged while one is answered with its `Request-Id`. Each request must have a fiber of its own.
 */
export const makeHttpMetrics = (): Watch => {
  let running = 0
  inFlight.unsafeUpdate(0, NO_TAGS)
  for (const policy of Object.keys(Policies)) refusalsOf(policy).unsafeUpdate(0, NO_TAGS)
  return ({ method }, stamp, answer) => {
    const counted = Effect.withFiberRuntime<Departure>((fiber) => {
      const began = real.unsafeCurrentTimeNanos()
      inFlight.unsafeUpdate(++running, NO_TAGS)
      fiber.addObserver((exit) => {
        inFlight.unsafeUpdate(--running, NO_TAGS)
        const verb = METHODS.has(method) ? method : "other"
        const route = stamp.route ?? "none"
        const status = Exit.isSuccess(exit) ? exit.value.status : "aborted"
        requestsOf(`${verb} ${status} ${route}`).unsafeUpdate(1, NO_TAGS)
        durationsOf(`${verb} ${route}`).unsafeUpdate(Number(real.unsafeCurrentTimeNanos() - began) / 1e9, NO_TAGS)
        if (Exit.isSuccess(exit) && status === 429) refusalsOf(policyIn(exit.value)).unsafeUpdate(1, NO_TAGS)
      })
      return answer
    })
    // Not `Effect.annotateLogs`, which would take it back when the fiber is over anyway, at four times the cost.
    const { request_id } = stamp
    return Effect.zipRight(FiberRef.update(FiberRef.currentLogAnnotations, HashMap.set("request_id", request_id as unknown)), counted)
  }
}
