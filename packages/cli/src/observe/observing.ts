import { readFileSync } from "node:fs"
import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { type Probe, Probes, Tracing, WebhookSender } from "@workshop/core"
import type { RequestObserver } from "@workshop/core/http"
import { makeHttpMetrics, processMetrics, shownMethod, shownRoute } from "@workshop/http-node"
import { Clock, Effect, Layer, Option } from "effect"
import * as Logs from "./Logs.js"
import type { Observed } from "./ObserveOptions.js"

const real = Clock.make()

/** Logs a line for each request: by its route and never by its path or query, which may hold phone numbers. */
export const logged: RequestObserver = ({ method }, _, answer) => {
  const began = real.unsafeCurrentTimeNanos()
  return Effect.tap(answer, ({ status, context, failure }) => {
    const ms = Number((real.unsafeCurrentTimeNanos() - began) / 1000n) / 1000
    return Effect.annotateLogs(Effect.logInfo("Answered"), {
      method: shownMethod(method),
      route: shownRoute(context),
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

/** A span for each request, below the caller's where they sent theirs. */
export const traced: RequestObserver = ({ method: sent, header }, context, answer) => {
  const method = shownMethod(sent)
  return Effect.useSpan(
    method,
    {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": method, request_id: context.id },
      ...parentOf(header)
    },
    (span) =>
      Effect.map(Effect.withParentSpan(answer, span), (response) => {
        const route = shownRoute(response.context)
        span.attribute("http.route", route)
        // Only now is it known; a span has no other way to be renamed.
        Object.assign(span, { name: `${method} ${route}` })
        span.attribute("http.response.status_code", response.status)
        return response
      })
  )
}

/** The sender with a span for each attempt, where somebody traces; it names the shop and what came of it, not the address. */
export const tracedSender: Layer.Layer<WebhookSender, never, WebhookSender> = Layer.effect(
  WebhookSender,
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const sender = yield* WebhookSender
    return WebhookSender.of({
      send: (post) =>
        within(
          "webhook attempt",
          { shop_id: post.shop_id },
          Effect.tap(sender.send(post), ({ status, error }) =>
            Effect.annotateCurrentSpan({ ...(status === null ? {} : { status }), ...(error === null ? {} : { error }) })
          )
        )
    })
  })
)

const version = (): string => JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version

/** Loaded where it is asked for: a start need not wait for it otherwise. */
const tracing = (endpoint: string) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Traces.js")),
      (Traces) => Traces.layer(endpoint, version())
    )
  )

/** Logs, metrics and traces as they were asked for, around all else that the process does. */
export const observing = (asked: Observed): Layer.Layer<never> =>
  Layer.scopedDiscard(processMetrics).pipe(
    Layer.provideMerge(Layer.sync(Probes, () => new Set<Probe>())),
    Layer.provideMerge(asked.otlpEndpoint === null ? Layer.empty : tracing(asked.otlpEndpoint)),
    Layer.provideMerge(Logs.layer(asked, process.stderr.isTTY === true))
  )

/** What looks on while requests are answered: always counting, the rest where it was asked for. */
export const watching = (asked: Observed & { readonly accessLog: boolean }): RequestObserver => {
  const counted = makeHttpMetrics()
  const others = [...(asked.accessLog ? [logged] : []), ...(asked.otlpEndpoint === null ? [] : [traced])]
  return (request, context, answer) =>
    counted(
      request,
      context,
      others.reduce((observed, observe) => observe(request, context, observed), answer)
    )
}
