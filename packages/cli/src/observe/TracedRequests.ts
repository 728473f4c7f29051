import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import type { Watch } from "@workshop/core/http/Pipeline"
import { shownMethod, shownRoute } from "@workshop/http-node/metrics/HttpMetrics"
import { Effect, Option } from "effect"

const parentOf = (header: (name: string) => string | undefined) => {
  const traceparent = header("traceparent")
  return traceparent === undefined
    ? {}
    : Option.match(HttpTraceContext.fromHeaders(Headers.fromInput({ traceparent })), {
        onNone: () => ({}),
        onSome: (parent) => ({ parent })
      })
}

/** A span for each request, below the caller's where they sent theirs. */
export const traced: Watch = ({ method: sent, header }, stamp, answer) => {
  const method = shownMethod(sent)
  return Effect.useSpan(
    method,
    {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": method, request_id: stamp.request_id },
      ...parentOf(header)
    },
    (span) =>
      Effect.map(Effect.withParentSpan(answer, span), (departure) => {
        const route = shownRoute(stamp)
        span.attribute("http.route", route)
        // Only now is it known; a span has no other way to be renamed.
        Object.assign(span, { name: `${method} ${route}` })
        span.attribute("http.response.status_code", departure.status)
        return departure
      })
  )
}
