import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { connect } from "node:net"
import { appCaller, Entropy, type ShopId } from "@workshop/core"
import type { HttpRequest, ObservedResponse, RouteGroup } from "@workshop/core/http"
import { respond } from "@workshop/core/internal/http"
import { start as startWorkshop } from "@workshop/core/promise"
import { CONNECTION_LIMITS, mountNode, SERVER_TIMEOUTS } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Deferred, Effect, Fiber, Runtime } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { Backlog } from "../../src/Backlog.js"
import { coalesce } from "../../src/coalesce.js"
import { listener } from "../../src/Listener.js"
import { RequestBody, requestFromNode } from "../../src/nodeRequest.js"
import { OpenConnections } from "../../src/OpenConnections.js"
import { UnreadResponses } from "../../src/UnreadResponses.js"
import { RawClient } from "./RawClient.js"
import { gate, type Running, start } from "./startServer.js"

const running: Array<Running> = []
const begin = async (...options: Parameters<typeof start>) => {
  const server = await start(...options)
  running.push(server)
  return server
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

const MIB = 1024 * 1024

/** The next data that a client receives, as text. */
const takenText = async (client: RawClient): Promise<string> => String((await once(client.socket, "data"))[0])

/** A route that returns the request's path and counts the requests that arrived and that run. */
const startCountingServer = () => {
  let entered = 0
  const opened = Effect.runSync(Deferred.make<void>())
  const branch: RouteGroup = {
    prefix: "/counted",
    handle: ({ path }, context) =>
      Effect.sync(() => {
        entered++
      }).pipe(Effect.zipRight(Deferred.await(opened)), Effect.as(respond({ data: { path } }, context)))
  }
  return { branch, entered: () => entered, open: () => Effect.runSync(Deferred.succeed(opened, undefined)) }
}

/** A route whose response has `bytes` bytes. */
const large = (bytes: number): RouteGroup => ({
  prefix: "/large",
  handle: (_, context) => Effect.sync(() => respond({ data: "x".repeat(bytes) }, context))
})

describe("one request at a time on a connection", { timeout: 60_000 }, () => {
  it("a request is not parsed before the previous request on the connection has its response", async () => {
    const server = createServer()
    const connections = new OpenConnections(server, CONNECTION_LIMITS, new Backlog())
    const responses: Array<ServerResponse> = []
    server.on("request", (request, response) => {
      connections.recordRequest(request, response, new RequestBody(request))
      responses.push(response)
      server.emit("noted")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1").resume()
    const body = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n"
    client.write(`${"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3)}${body}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
    for (let n = 1; n <= 5; n++) {
      if (responses.length < n) await once(server, "noted")
      expect(responses).toHaveLength(n)
      responses[n - 1]!.end()
    }
    client.destroy()
    server.close()
  })

  it("the first of a hundred pipelined requests runs alone, and all get their responses in order", async () => {
    const slow = gate()
    const many = startCountingServer()
    const server = await begin({ branches: [slow.branch, many.branch] })
    const client = await server.client()
    client.request("GET /slow/0")
    for (let i = 1; i <= 100; i++) client.request(`GET /counted/${i}`)
    await slow.entered
    // Meanwhile the server responds on another connection.
    expect((await (await server.client()).request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    expect(many.entered()).toBe(0)
    slow.open()
    many.open()
    expect((await client.nextResponse()).json.data).toEqual({ path: "/slow/0" })
    for (let i = 1; i <= 100; i++) expect((await client.nextResponse()).json.data).toEqual({ path: `/counted/${i}` })
  })

  it("an address that sent a valid key may pipeline requests, until it sends far ahead of its responses", async () => {
    const slow = gate()
    const many = startCountingServer()
    many.open()
    const server = await begin({ branches: [slow.branch, many.branch] })
    const ahead = (client: RawClient, count: number) => {
      for (let i = 1; i <= count; i++) client.request(`GET /counted/${i}`)
    }
    const inOrder = async (client: RawClient, count: number) => {
      for (let i = 1; i <= count; i++)
        expect((await client.nextResponse()).json.data).toEqual({ path: `/counted/${i}` })
    }
    expect((await (await server.client()).request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    const [modest, idle, greedy] = [await server.client(), await server.client(), await server.client()]
    ahead(modest, 21)
    await inOrder(modest, 21)

    greedy.request("GET /slow/0")
    await slow.entered
    greedy.socket.write("GET /counted/0 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000))
    expect(await greedy.end()).toBe("")
    const before = many.entered()
    // The server now reads one request at a time on all connections of the address, open and new.
    for (const client of [idle, await server.client()]) {
      ahead(client, 100)
      await inOrder(client, 100)
    }
    expect(many.entered() - before).toBe(200)
    expect((await modest.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
  })

  it("pipelined requests may have bodies, with a length and in chunks", async () => {
    const server = await begin()
    const client = await server.client()
    const make = (key: string, ...more: ReadonlyArray<string>) => [
      server.key,
      "Content-Type: application/json",
      `Idempotency-Key: ${key}`,
      ...more
    ]
    const body = JSON.stringify({ service: "Hem", description: "x".repeat(1_500) })
    for (const i of [1, 2, 3]) {
      client.request("POST /v1/tickets", make(`a${i}`), body)
      client.request("POST /v1/tickets", make(`b${i}`, "Transfer-Encoding: chunked"))
      client.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    }
    client.request("GET /v1/tickets", [server.key])
    for (let i = 0; i < 6; i++) expect((await client.nextResponse()).status).toBe(201)
    expect((await client.nextResponse()).json.data).toHaveLength(6)
  })

  it("the server stops reading from a client that sends without waiting for responses, and serves other clients", async () => {
    const slow = gate()
    const server = await begin({ branches: [slow.branch] })
    const client = await server.client()
    client.request("GET /slow/1")
    client.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(700_000))
    await slow.entered
    const other = await server.client()
    for (let i = 0; i < 50; i++) expect((await other.request("GET /healthz").nextResponse()).status).toBe(200)
    expect(client.socket.writableLength).toBeGreaterThan(8 * MIB)
    client.socket.destroy()
  })

  it("the API mounted in another Node server also runs one request of a connection at a time", async () => {
    const workshop = await startWorkshop({
      store: MemoryStore.layer,
      randomBytes: Entropy.seededBytes(9),
      background: false
    })
    let running = 0
    let max = 0
    const handle = mountNode(workshop, {
      authenticate: async () => {
        max = Math.max(max, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return null
      }
    })
    const server = createServer(handle)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const client = await RawClient.connect((server.address() as AddressInfo).port)
    for (let i = 0; i < 50; i++) client.request("GET /v1/shop")
    for (let i = 0; i < 50; i++) expect((await client.nextResponse()).status).toBe(401)
    expect(max).toBe(1)
    client.socket.destroy()
    server.close()
    await workshop.stop()
  })
})

describe("responses to requests without a valid key", { timeout: 60_000 }, () => {
  it("responses to requests without a valid key wait in the backlog, and responses to requests with a valid key do not", async () => {
    const pieces: Array<() => void> = []
    class HeldBacklog extends Backlog {
      override add(piece: () => void): void {
        pieces.push(piece)
      }
    }
    const context = { id: "r", now: 0, route: null, caller: null, limitStatuses: [] }
    const answer = ({ path }: HttpRequest) =>
      Effect.succeed<ObservedResponse>({
        status: 200,
        headers: {},
        body: path,
        context: path === "/good" ? { ...context, caller: appCaller("shop" as ShopId) } : context
      })
    const handle = listener(Runtime.defaultRuntime, {
      backlog: new HeldBacklog(),
      unread: new UnreadResponses(Runtime.defaultRuntime, SERVER_TIMEOUTS, MIB),
      onAuthenticated: () => undefined
    })
    const server = createServer((request, response) =>
      handle(request, response, () => answer(requestFromNode(request, false)))
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const [stranger, known] = [await RawClient.connect(port), await RawClient.connect(port)]
    stranger.request("GET /strange")
    await untilAsync(
      "the request in the backlog",
      () => pieces.length,
      (count) => count > 0
    )
    known.request("GET /good")
    expect(await takenText(known)).toMatch(/\/good$/)
    expect([pieces.length, stranger.socket.bytesRead]).toEqual([1, 0])
    pieces[0]!()
    expect(await takenText(stranger)).toMatch(/\/strange$/)
    for (const client of [stranger, known]) client.socket.destroy()
    server.close()
  })
})

describe("Limits on clients' connections and unread responses", { timeout: 60_000 }, () => {
  it("connections from IPv6 addresses are counted by network, whose size is configured", async () => {
    const server = await begin({ trustProxy: true, limits: { ipv6Prefix: 56 } })
    const client = await server.client()
    const left = async (address: string) =>
      (await client.request("GET /v1/shop", [`X-Forwarded-For: ${address}`]).nextResponse()).headers[
        "ratelimit-remaining"
      ]
    expect(await left("2001:db8:1:200::1")).toBe("119")
    expect(await left("2001:db8:1:2ff::1")).toBe("118")
    expect(await left("2001:db8:1:300::1")).toBe("119")
  })

  it("a connection is closed with the response to its last request", async () => {
    const server = await begin({ limits: { maxRequestsPerConnection: 3 } })
    const client = await server.client()
    for (let i = 0; i < 10; i++) client.request("GET /healthz")
    const kept = [await client.nextResponse(), await client.nextResponse(), await client.nextResponse()]
    expect(kept.map(({ headers }) => headers.connection)).toEqual(["keep-alive", "keep-alive", "close"])
    expect(await client.end()).toBe("")
  })

  it("a server at its connection limit closes the connection that has been idle for longest", async () => {
    const slow = gate()
    const server = await begin({ limits: { maxConnections: 4 }, branches: [slow.branch] })
    const busy = await server.client()
    busy.request("GET /slow/1")
    await slow.entered
    const idle = await server.client()
    const silent = await server.client()
    const asking = await server.client()
    await idle.request("GET /healthz").nextResponse()
    const fifth = await server.client()
    await silent.end()
    await asking.request("GET /healthz").nextResponse()
    const sixth = await server.client()
    await idle.end()
    for (const client of [asking, fifth, sixth])
      expect((await client.request("GET /healthz").nextResponse()).status).toBe(200)
    slow.open()
    expect((await busy.nextResponse()).status).toBe(200)
  })

  it("a server at its connection limit closes a connection that has its response and still sends an unwanted body", async () => {
    const server = await begin({ limits: { maxConnections: 2 } })
    const slowBody = async () => {
      const client = await server.client()
      expect((await client.request("POST /v1/tickets", ["Content-Length: 900000"]).nextResponse()).status).toBe(401)
      return client
    }
    const [first, second] = [await slowBody(), await slowBody()]
    const honest = await server.client()
    expect((await honest.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    await first.end()
    second.socket.destroy()
  })

  it("a server at its connection limit closes a connection of the address with the most connections, even during a request", async () => {
    const many = startCountingServer()
    const server = await begin({ limits: { maxConnections: 4 }, branches: [many.branch] })
    const crowd = await Promise.all([1, 2, 3, 4].map(() => server.client()))
    for (const client of crowd) client.request("GET /counted/1")
    await untilAsync("four running requests", many.entered, (count) => count === 4)
    const honest = await RawClient.connect(server.port, "127.0.0.2")
    expect((await honest.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    // A new connection of that address does not displace a connection of an address with fewer.
    await (await server.client()).end()
    expect((await honest.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    many.open()
    const left = await Promise.allSettled(crowd.map((client) => client.nextResponse()))
    expect(left.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
  })

  it("a server at its connection limit refuses a connection if a request runs on every other connection", async () => {
    const slow = gate()
    const server = await begin({ limits: { maxConnections: 1 }, branches: [slow.branch] })
    const busy = await server.client()
    busy.request("GET /slow/1")
    await slow.entered
    await (await server.client()).end()
    slow.open()
    expect((await busy.nextResponse()).status).toBe(200)
  })

  it("the connection limit of one address does not affect other addresses", async () => {
    const slow = gate()
    const server = await begin({ limits: { maxConnectionsPerAddress: 1 }, branches: [slow.branch] })
    const busy = await server.client()
    busy.request("GET /slow/1")
    await slow.entered
    await (await server.client()).end()
    const other = connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.2" })
    other.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    const [response] = await once(other, "data")
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 /)
    other.destroy()
    slow.open()
    await busy.nextResponse()
  })

  it("if the unread responses exceed their total limit, the server closes the connection whose response is unread for longest", async () => {
    const server = await begin({ limits: { maxUnreadBytes: 20 * MIB }, branches: [large(16 * MIB)] })
    const first = await server.client()
    first.socket.pause()
    first.request("GET /large")
    // The second large request is sent only after the server has responded to the first.
    await (await server.client()).request("GET /healthz").nextResponse()
    const second = await server.client()
    expect((await second.request("GET /large").nextResponse()).status).toBe(200)
    first.socket.resume()
    expect((await first.end()).length).toBeLessThan(16 * MIB)
  })

  it("the server closes a connection that does not read the whole response in time, even if the response does not stall", async () => {
    const server = await begin({
      // The stopping timeouts are long, so that server.stop() ends in time only if the total timeout closes the
      // connection.
      timeouts: { responseStallMs: 60_000, responseTotalMs: 50, drainArrivalMs: 60_000, stoppingMs: 60_000 },
      branches: [large(16 * MIB)]
    })
    const client = await server.client()
    client.socket.pause()
    client.request("GET /large")
    // When the server responds here, it has responded to the first client. Destroyed, because server.stop() would wait
    // for it too.
    const other = await server.client()
    await other.request("GET /healthz").nextResponse()
    other.socket.destroy()
    await server.stop()
  })
})

describe("static responses", { timeout: 60_000 }, () => {
  it.each(["/openapi.json", "/docs", "/docs/rapidoc-min.js", "/docs/docs.css", "/docs/start.js"])(
    "%s is cacheable, and a request with its ETag gets a 304",
    async (path) => {
      const server = await begin()
      const client = await server.client()
      const send = (headers: ReadonlyArray<string>) =>
        client.send(`GET ${path} HTTP/1.1`, "Host: x", ...headers, "", "")
      client.request(`HEAD ${path}`)
      const { headers } = await client.nextResponse({ toHead: true })
      expect(headers["cache-control"]).toBe("public, max-age=300")
      expect(headers.etag).toMatch(/^"[\w-]{22}"$/)
      send([`If-None-Match: "other", W/${headers.etag}`])
      const known = await client.nextResponse({ toHead: true })
      expect([known.status, known.headers.etag, known.headers["content-length"]]).toEqual([
        304,
        headers.etag,
        undefined
      ])
      client.request("GET /healthz")
      expect((await client.nextResponse()).status).toBe(200)
    }
  )
})

describe("coalesce", { timeout: 60_000 }, () => {
  it("a coalesced effect that has a result returns it synchronously", async () => {
    const work = coalesce(Effect.delay(Effect.succeed("found"), 1), 1_000, { unsafeCurrentTimeMillis: () => 0 })
    await Effect.runPromise(work)
    expect(Effect.runSync(work)).toBe("found")
  })

  it("a coalesced effect runs once for concurrent callers, and its result is reused for its lifetime", async () => {
    let now = 0
    let done = 0
    const ready = Effect.runSync(Deferred.make<void>())
    const work = coalesce(
      Effect.zipRight(
        Deferred.await(ready),
        Effect.sync(() => ++done)
      ),
      1_000,
      { unsafeCurrentTimeMillis: () => now }
    )
    const first = Effect.runFork(work)
    const second = Effect.runFork(work)
    // Interrupting the first caller does not interrupt the shared run.
    await Effect.runPromise(Fiber.interrupt(first))
    Effect.runSync(Deferred.succeed(ready, undefined))
    expect(await Effect.runPromise(Fiber.join(second))).toBe(1)
    now = 999
    expect(await Effect.runPromise(work)).toBe(1)
    now = 1_000
    expect(await Effect.runPromise(work)).toBe(2)
    // The result expires if the clock was set back, because its age is unknown.
    now = 0
    expect(await Effect.runPromise(work)).toBe(3)
  })
})
