import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Tracing, type Within } from "@workshop/core/ports/Tracing"
import { Config, Effect, Layer } from "effect"

const within: Within = (name, attributes, work) =>
  Effect.withSpan(work, name, { attributes, root: true, captureStackTrace: false })

/** Sends spans to an OpenTelemetry collector; what runs beneath gets spans that are made for nobody otherwise. */
export const layer = (endpoint: string, serviceVersion: string): Layer.Layer<never> => {
  const url = `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`
  const tracer = Effect.map(Effect.orDie(Config.withDefault(Config.string("OTEL_SERVICE_NAME"), "workshop")), (name) =>
    OtlpTracer.layer({ url, resource: { serviceName: name, serviceVersion } })
  )
  return Layer.unwrapEffect(tracer).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(FetchHttpClient.layer),
    Layer.merge(Layer.succeed(Tracing, { within }))
  )
}
