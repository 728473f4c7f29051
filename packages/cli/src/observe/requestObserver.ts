import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import type { RequestObserver } from "@workshop/core/http"
import { makeHttpMetrics } from "@workshop/http-node"
import { methodLabel, routeLabel } from "@workshop/http-node/internal"
import { Clock, Effect, Option } from "effect"
import type { ObserveFlags } from "./ObserveOptions.js"

const realClock = Clock.make()

/**
 * Logs a line for each request. The line names the route and never the path or the query, because a path or a query may
 * contain phone numbers.
 */
export const accessLogObserver: RequestObserver = ({ method }, _, response) => {
  const startedAt = realClock.unsafeCurrentTimeNanos()
  return Effect.tap(response, ({ status, context, failure }) => {
    const ms = Number((realClock.unsafeCurrentTimeNanos() - startedAt) / 1000n) / 1000
    return Effect.annotateLogs(Effect.logInfo("Answered"), {
      method: methodLabel(method),
      route: routeLabel(context),
      status,
      ...(failure && { failure: failure._tag }),
      ms
    })
  })
}

const parentOf = (header: (name: string) => string | undefined) => {
  const traceparent = header("traceparent")
  return traceparent === undefined
    ? {}
    : Option.match(HttpTraceContext.fromHeaders(Headers.fromInput({ traceparent })), {
        onNone: () => ({}),
        onSome: (parent) => ({ parent })
      })
}

/** Creates a span for each request. It is a child of the caller's span if the request names one. */
export const traceObserver: RequestObserver = ({ method: sent, header }, context, response) => {
  const method = methodLabel(sent)
  return Effect.useSpan(
    method,
    {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": method, request_id: context.id },
      ...parentOf(header)
    },
    (span) =>
      Effect.map(Effect.withParentSpan(response, span), (observed) => {
        const route = routeLabel(observed.context)
        span.attribute("http.route", route)
        // The name is assigned here, because the route is known only after the request, and a span has no method to
        // rename it.
        Object.assign(span, { name: `${method} ${route}` })
        span.attribute("http.response.status_code", observed.status)
        return observed
      })
  )
}

/** The observer of requests: it always counts them, and logs or traces them if a flag asks for it. */
export const requestObserver = (flags: ObserveFlags & { readonly accessLog: boolean }): RequestObserver => {
  const countRequest = makeHttpMetrics()
  const others = [
    ...(flags.accessLog ? [accessLogObserver] : []),
    ...(flags.otlpEndpoint === null ? [] : [traceObserver])
  ]
  return (request, context, response) =>
    countRequest(
      request,
      context,
      others.reduce((observed, observe) => observe(request, context, observed), response)
    )
}
