import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { SendResult, type ShopId, WebhookSender } from "@workshop/core"
import type { HttpRequest, ObservedResponse, RequestContext } from "@workshop/core/http"
import { Tracing } from "@workshop/core/store"
import { Deferred, Effect, Layer, Option } from "effect"
import { describe, expect, it } from "vitest"
import { traceObserver } from "../../src/observe/requestObserver.js"
import * as Traces from "../../src/observe/Traces.js"
import { tracedSender } from "../../src/observe/tracedSender.js"
import { attributesOf, Collector } from "./Collector.js"

const sent = (headers: Readonly<Record<string, string>> = {}): HttpRequest => ({
  method: "GET",
  path: "/v1/tickets/1",
  query: "phone=%2B21620123456",
  header: (name) => headers[name],
  repeats: () => false,
  address: "127.0.0.1",
  body: () => Effect.never
})
const context: RequestContext = { id: "abc", now: 0, route: "/v1", caller: null, limitStatuses: [] }
const ended: ObservedResponse = { status: 404, headers: {}, body: "", context }

/** The requests that a collector received while `work` ran. */
const collected = <A>(work: Effect.Effect<A>, wrap: (work: Effect.Effect<A>, url: string) => Effect.Effect<A>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const collector = yield* Collector.open
        yield* wrap(work, collector.url)
        return collector
      })
    )
  )
const withTraces = <A>(work: Effect.Effect<A>) =>
  collected(work, (work, url) => Effect.provide(work, Traces.layer(url, "1.2.3")))

describe("traces (Specification, Commands)", () => {
  it("each request exports a span with its route, status and Request-Id", async () => {
    const answer = Effect.succeed({ ...ended, context: { ...context, route: "/v1/tickets/:id" } })
    const { paths, bodies, spans } = await withTraces(traceObserver(sent(), context, answer))
    expect(paths).toEqual(["/v1/traces"])
    expect(attributesOf(bodies[0]!.resourceSpans[0]!.resource)).toEqual({
      "service.name": "workshop",
      "service.version": "1.2.3"
    })
    expect(spans).toMatchObject([{ name: "GET /v1/tickets/{id}", kind: 2 }])
    expect(attributesOf(spans[0]!)).toEqual({
      "http.request.method": "GET",
      "http.route": "/v1/tickets/{id}",
      "http.response.status_code": 404,
      request_id: "abc"
    })
    expect(JSON.stringify(bodies)).not.toContain("21620123456")
  })

  it("the span of a request whose method no route has is named `other`", async () => {
    const unrouted = { ...context, route: null }
    const answer = Effect.succeed({ ...ended, context: unrouted })
    const { spans } = await withTraces(traceObserver({ ...sent(), method: "A".repeat(9_000) }, unrouted, answer))
    expect(spans).toMatchObject([{ name: "other none" }])
    expect(attributesOf(spans[0]!)).toMatchObject({ "http.request.method": "other" })
  })

  it("the span of a request with traceparent is a child of the caller's span", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const { spans } = await withTraces(traceObserver(sent({ traceparent }), context, Effect.succeed(ended)))
    expect(spans).toMatchObject([{ traceId: "0af7651916cd43dd8448eb211c80319c", parentSpanId: "b7ad6b7169203331" }])
  })

  it("the span exporter times out on a collector that does not respond, and sends it nothing for a while", {
    timeout: 60_000
  }, async () => {
    const asked: Array<string> = []
    const gaveUp = Effect.runSync(Deferred.make<void>())
    const server = createServer((request) => {
      asked.push(request.resume().url ?? "")
      request.socket.once("close", () => Effect.runSync(Deferred.succeed(gaveUp, undefined)))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    // 1000 requests fill one batch.
    const requests = Effect.repeatN(traceObserver(sent(), context, Effect.succeed(ended)), 999)
    await Effect.runPromise(
      Effect.andThen(requests, Deferred.await(gaveUp)).pipe(
        Effect.andThen(requests),
        Effect.provide(Traces.layer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "1.2.3", "2 seconds"))
      )
    )
    expect(asked).toEqual(["/v1/traces"])
    server.closeAllConnections()
    server.close()
  })

  const post = { shop_id: "s" as ShopId, url: "https://example.com/?token=1", headers: {}, body: "secret" }
  const attempt = Effect.flatMap(WebhookSender, ({ send }) => send(post)).pipe(
    Effect.provide(
      Layer.provide(
        tracedSender,
        Layer.succeed(WebhookSender, { send: () => Effect.succeed(SendResult.failed("timeout")) })
      )
    )
  )

  it("each delivery attempt exports a span, without the address, the body or the signature", async () => {
    const { bodies, spans } = await withTraces(attempt)
    expect(spans).toMatchObject([{ name: "webhook attempt" }])
    expect(attributesOf(spans[0]!)).toEqual({ shop_id: "s", error: "timeout" })
    expect(JSON.stringify(bodies)).not.toMatch(/example|token|secret/)
  })

  it("traces cost nothing without --otlp-endpoint: the work runs without spans", async () => {
    const work = Effect.gen(function* () {
      const { within } = yield* Tracing
      const inner = Effect.option(Effect.currentSpan)
      expect(within("store batch", { commands: 1 }, inner)).toBe(inner)
      return yield* within("store batch", { commands: 1 }, inner)
    })
    expect(await Effect.runPromise(work)).toEqual(Option.none())
  })
})
