import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, type Scope } from "effect"

/** A span in OTLP's JSON encoding. */
export interface CollectedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

interface TraceBody {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: CollectedSpan["attributes"] }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<CollectedSpan> }>
  }>
}

/** The attributes of a span or a resource, by name. */
export const attributesOf = ({ attributes }: Pick<CollectedSpan, "attributes">): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** An OpenTelemetry collector on loopback that records the requests that it receives. */
export class Collector {
  readonly bodies: Array<TraceBody> = []
  readonly paths: Array<string> = []
  url = ""

  get spans(): ReadonlyArray<CollectedSpan> {
    return this.bodies.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    )
  }

  static readonly open: Effect.Effect<Collector, never, Scope.Scope> = Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<readonly [Collector, ReturnType<typeof createServer>]>((resolve) => {
            const collector = new Collector()
            const server = createServer((request, response) => {
              let text = ""
              request.on("data", (chunk) => {
                text += chunk
              })
              request.on("end", () => {
                collector.paths.push(request.url ?? "")
                collector.bodies.push(JSON.parse(text))
                response.end("{}")
              })
            })
            server.listen(0, "127.0.0.1", () => {
              collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
              resolve([collector, server])
            })
          })
      ),
      ([, server]) => Effect.sync(() => void server.close())
    ),
    ([collector]) => collector
  )
}
