import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { type RunInSpan, Tracing } from "@workshop/core/store"
import { Cause, Config, type Duration, Effect, Layer } from "effect"

const runInSpan: RunInSpan = (name, attributes, work) =>
  Effect.withSpan(work, name, { attributes, root: true, captureStackTrace: false })

/** The longest time that a collector may take for a batch of spans. */
const EXPORT_TIMEOUT = "5 seconds"

/**
 * Drops a batch that the collector does not accept in time, because later batches would otherwise collect in memory.
 * The time-out is a defect, because the exporter would send a failed batch again. After a failure or a defect, the
 * exporter sends nothing for a minute.
 */
const withTimeout = (timeout: Duration.DurationInput) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transformResponse(
        Effect.timeoutFailCause({
          duration: timeout,
          onTimeout: () => Cause.die(new Error("The collector did not respond in time"))
        })
      )
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

/** Exports spans to an OpenTelemetry collector, including spans that are created only if there is a tracer. */
export const layer = (
  endpoint: string,
  serviceVersion: string,
  timeout: Duration.DurationInput = EXPORT_TIMEOUT
): Layer.Layer<never> => {
  const url = `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`
  const tracer = Effect.map(Effect.orDie(Config.withDefault(Config.string("OTEL_SERVICE_NAME"), "workshop")), (name) =>
    OtlpTracer.layer({ url, resource: { serviceName: name, serviceVersion } })
  )
  return Layer.unwrapEffect(tracer).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(withTimeout(timeout)),
    Layer.merge(Layer.succeed(Tracing, { within: runInSpan }))
  )
}
