import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Entropy } from "@workshop/core"
import { httpApp, mountFetch } from "@workshop/core/http"
import { start as startWorkshop } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Exit, Layer, Runtime, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { RawClient } from "./RawClient.js"
import { type Running, start } from "./startServer.js"

const workshop = await startWorkshop({
  store: MemoryStore.layer,
  randomBytes: Entropy.seededBytes(9),
  background: false
})
afterAll(() => workshop.stop())

/** Starts a server with a request listener, and counts the bytes that it reads. */
const counted = async (listener: RequestListener) => {
  let bytes = 0
  const server = createServer(listener)
  server.on("connection", (socket) => socket.on("close", () => (bytes = socket.bytesRead)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { port: (server.address() as AddressInfo).port, bytes: () => bytes, stop: () => void server.close() }
}

const MIB = 1024 * 1024
const CHUNK = `10000\r\n${"x".repeat(0x10000)}\r\n`

/** Sends an endless body until the server closes the connection. Returns the status and the number of bytes sent. */
const sendEndlessly = async (port: number, ...head: ReadonlyArray<string>) => {
  const client = await RawClient.connect(port)
  const answered = client.request(head[0]!, [...head.slice(1), "Transfer-Encoding: chunked"]).nextResponse()
  const closed = new Promise((resolve) => client.socket.once("close", resolve))
  const send = (): void => {
    while (!client.socket.destroyed && client.socket.write(CHUNK));
  }
  client.socket.on("drain", send)
  send()
  const { status } = await answered
  await closed
  return status
}

// The tests run concurrently, because each waits a second until the server closes its connection.
describe.concurrent("A body that no handler needs is read to 256 KiB at most (Specification, Requests and responses)", {
  timeout: 60_000
}, () => {
  let server: Running
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  it.each([
    ["without a key", ["POST /v1/tickets"], 401],
    ["to no route", ["POST /nowhere"], 404],
    ["to a page", ["GET /healthz"], 200]
  ] as const)("the server reads at most 256 KiB of the body of a request %s", async (_, head, status) => {
    expect(await sendEndlessly(server.port, ...head)).toBe(status)
  })

  it("the server reads at most 256 KiB of a too large body, even with a valid key", async () => {
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k"]
    expect(await sendEndlessly(server.port, "POST /v1/tickets", ...headers)).toBe(400)
  })

  it("the server reads at most 256 KiB of input that is not HTTP", async () => {
    const client = await server.client()
    const closed = new Promise((resolve) => client.socket.once("close", resolve))
    const send = (): void => {
      while (!client.socket.destroyed && client.socket.write("\0".repeat(0x10000)));
    }
    client.socket.on("drain", send)
    send()
    expect((await client.nextResponse()).status).toBe(400)
    await closed
  })

  it("the response to a request with a Content-Length above the bound closes the connection", async () => {
    const client = await server.client()
    const response = await client.request("POST /v1/tickets", ["Content-Length: 262145"]).nextResponse()
    expect([response.status, response.headers.connection]).toEqual([401, "close"])
    // Destroyed, because a stopping server would wait for the rest of the body.
    client.socket.destroy()
    const kept = await server.client()
    const short = await kept.request("POST /v1/tickets", [], "x".repeat(200_000)).nextResponse()
    expect([short.status, short.headers.connection]).toEqual([401, "keep-alive"])
    expect((await kept.request("GET /healthz").nextResponse()).status).toBe(200)
  })

  it("the API inside a Node server reads at most 256 KiB of an unwanted body", async () => {
    const mounted = await counted(mountNode(workshop))
    expect(await sendEndlessly(mounted.port, "POST /v1/tickets")).toBe(401)
    expect(mounted.bytes()).toBeLessThan(MIB)
    mounted.stop()
  })

  it("the API as an HttpApp reads at most 256 KiB of an unwanted body", async () => {
    const scope = Effect.runSync(Scope.make())
    let bytes = 0
    const node = createServer()
    node.on("connection", (socket) => socket.on("close", () => (bytes = socket.bytesRead)))
    const serving = Layer.scopedDiscard(Effect.flatMap(httpApp(), (app) => HttpServer.serveEffect(app))).pipe(
      Layer.provide(NodeHttpServer.layer(() => node, { host: "127.0.0.1", port: 0 }))
    )
    await Runtime.runPromise(workshop.runtime)(Layer.buildWithScope(serving, scope))
    expect(await sendEndlessly((node.address() as AddressInfo).port, "POST /v1/tickets")).toBe(401)
    expect(bytes).toBeLessThan(MIB)
    node.closeAllConnections()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("the API as a fetch function reads at most 256 KiB of an unwanted body", async () => {
    let pulled = 0
    const cancelled = new Promise<void>((resolve) => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          pulled += 0x10000
          controller.enqueue(new Uint8Array(0x10000))
        },
        cancel: () => resolve()
      })
      const request = new Request("https://shop.example/v1/tickets", {
        method: "POST",
        body,
        duplex: "half"
      } as RequestInit)
      void mountFetch(workshop)(request)
    })
    await cancelled
    expect(pulled).toBeLessThan(MIB)
  })
})
