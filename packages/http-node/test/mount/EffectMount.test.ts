import { once } from "node:events"
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Caller, Entropy, Profanity, ShopInput, Shops } from "@workshop/core"
import { httpApp } from "@workshop/core/http"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import { afterAll, expect, it } from "vitest"
import { layer as services } from "../../../core/src/services/Workshop.js"
import { RawClient } from "../server/RawClient.js"

const node = createServer()
/** The number of running requests, and its maximum so far. */
const running = { now: 0, max: 0 }
const serving = Layer.scopedDiscard(
  Effect.gen(function* () {
    const needle = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
    const { id } = yield* Shops.create(Schema.decodeSync(ShopInput)(needle))
    const amira = Schema.decodeSync(Caller)({
      shop_id: id,
      caller_id: "019a0000-0000-7000-8000-000000000001",
      scopes: ["tickets:write"],
      via: "api"
    })
    yield* HttpServer.serveEffect(
      yield* httpApp({
        authenticate: () =>
          Effect.gen(function* () {
            running.max = Math.max(running.max, ++running.now)
            yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            running.now--
            return amira
          })
      })
    )
  })
)
const runtime = ManagedRuntime.make(
  serving.pipe(
    Layer.provide(NodeHttpServer.layer(() => node, { host: "127.0.0.1", port: 0 })),
    Layer.provide(services),
    Layer.provide(MemoryStore.layer),
    Layer.provide(Profanity.layer),
    Layer.provide(Entropy.layerSeeded(4))
  )
)
await runtime.runtime()
const agent = new Agent({ keepAlive: true })
afterAll(() => {
  // Closes the kept-alive connections, because the server waits for them when it stops.
  agent.destroy()
  return runtime.dispose()
})

/** Posts `bytes` bytes in chunks, without a Content-Length. */
const posted = async (bytes: number) => {
  const { port } = node.address() as AddressInfo
  const headers = { "content-type": "application/json", "idempotency-key": "one" }
  const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/v1/tickets", headers, agent })
  const chunk = Buffer.alloc(16_384, " ")
  for (let sent = 0; sent < bytes; sent += chunk.length) sending.write(chunk)
  sending.end()
  // The server may close the connection before the whole body is sent.
  sending.on("error", () => undefined)
  const [response] = await once(sending, "response")
  let text = ""
  response.setEncoding("utf8").on("data", (part: string) => {
    text += part
  })
  await once(response, "end")
  return { status: response.statusCode, error: JSON.parse(text).error }
}

it.each([70_000, 1_000_000, 10_000_000])(
  "an HttpApp on a socket refuses a chunked body of %d bytes, and the client can read the reason (Specification, Errors)",
  async (bytes) => {
    const { status, error } = await posted(bytes)
    expect(status).toBe(400)
    expect(JSON.stringify(error)).toContain("must be at most 65536 bytes")
  }
)

it("an HttpApp on a socket refuses an Idempotency-Key given twice (Specification, Idempotency)", async () => {
  const { port } = node.address() as AddressInfo
  const headers = { "content-type": "application/json", "idempotency-key": ["one", "two"] }
  const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/v1/tickets", headers, agent })
  sending.end('{"service":"Hem"}')
  const [response] = await once(sending, "response")
  let text = ""
  for await (const part of response.setEncoding("utf8")) text += part
  const issue = { in: "header", field: "Idempotency-Key", message: "is given twice; send it only once" }
  expect([response.statusCode, JSON.parse(text).error.details]).toEqual([400, { issues: [issue] }])
})

it("an HttpApp on a socket runs one request of a connection at a time, and responds in the order of the requests (docs/embed.md)", async () => {
  const client = await RawClient.connect((node.address() as AddressInfo).port)
  running.max = 0
  for (let i = 0; i < 50; i++) client.request(i % 2 === 0 ? "GET /v1/tickets" : "GET /nowhere")
  const statuses = []
  for (let i = 0; i < 50; i++) statuses.push((await client.nextResponse()).status)
  expect(statuses).toEqual(Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? 403 : 404)))
  expect(running.max).toBe(1)
  client.socket.destroy()
})
