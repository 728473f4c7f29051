import { respond } from "@workshop/core/internal/http"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import type { RawClient } from "./RawClient.js"
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

/** Expects a 400 with one issue, after which the server closes the connection. */
const lastAnswer = async (client: RawClient, message: string, field = "header") => {
  const { status, json, headers } = await client.nextResponse()
  expect({ status, code: json.error?.code, issues: json.error?.details?.issues }).toEqual({
    status: 400,
    code: "VALIDATION_ERROR",
    issues: [{ in: "header", field, message }]
  })
  expect(headers["request-id"]).toMatch(/^[0-9a-f]{24}$/)
  expect(headers.connection).toBe("close")
  expect(await client.end()).toBe("")
}

describe("Input that is not HTTP gets a response in the envelope (Specification, Lists and sync)", () => {
  const NOT_HTTP = "must be valid HTTP/1.1"

  it.each([
    ["plain text", "hello there\r\n\r\n"],
    ["binary", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n"],
    ["HTTP/0.9", "GET /v1/shop\r\n\r\n"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["another version", "GET /v1/shop HTTP/3.0\r\nHost: x\r\n\r\n"],
    ["a space in a header's name", "GET /v1/shop HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["a Content-Length that is not a number", "POST /v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n"],
    ["two lengths", "POST /v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    [
      "both Content-Length and Transfer-Encoding",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    ],
    ["no host", "GET /v1/shop HTTP/1.1\r\n\r\n"],
    ["a host with a space", "GET /v1/shop HTTP/1.1\r\nHost: x y\r\n\r\n"],
    ["a host with a path", "GET /v1/shop HTTP/1.1\r\nHost: x/y\r\n\r\n"],
    ["an unknown method in a head that does not end properly", "BREW /v1/shop HTTP/1.1\r\nnonsense"]
  ])("%s gets a 400 in the envelope, and the connection is closed", async (_, text) => {
    const server = await begin()
    await lastAnswer((await server.client()).send(text), NOT_HTTP)
  })

  it("a Host header given twice is refused (Specification, Lists and sync)", async () => {
    const server = await begin()
    const twice = "GET /v1/shop HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n"
    await lastAnswer((await server.client()).send(twice), "is given twice; send it only once", "Host")
  })

  it("a request head of more than 16 KiB is refused, whether in one header, in many headers or in the path", async () => {
    const server = await begin()
    const large = "must be at most 16384 bytes, including the request line"
    const filler = Array.from({ length: 200_000 }, (_, i) => `X-${i}: ${i}`)
    await lastAnswer((await server.client()).request("GET /v1/shop", [`X: ${"x".repeat(20_000)}`]), large)
    await lastAnswer((await server.client()).request("GET /v1/shop", filler), large)
    await lastAnswer((await server.client()).request(`GET /${"x".repeat(20_000)}`), large)
  })

  it("the server reads all of a request's headers, even a key after a great number of them", async () => {
    const server = await begin()
    const many = Array.from({ length: 1_900 }, (_, i) => `${(i + 1_000).toString(36)}:`)
    expect((await (await server.client()).request("GET /v1/shop", [...many, server.key]).nextResponse()).status).toBe(
      200
    )
  })

  it("invalid input after a pipelined request gets its response after that request's response", async () => {
    const slow = gate()
    const server = await begin({ branches: [slow.branch] })
    const client = await server.client()
    client.request("GET /slow/1").send("\0nonsense\r\n\r\n")
    await slow.entered
    slow.open()
    expect((await client.nextResponse()).json.data).toEqual({ path: "/slow/1" })
    await lastAnswer(client, NOT_HTTP)
  })

  it("an invalid chunk in a body fails only that request", async () => {
    const server = await begin()
    const client = await server.client()
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k", "Transfer-Encoding: chunked"]
    client.request("POST /v1/tickets", headers).send("not a chunk\r\n")
    const { status, json, headers: responseHeaders } = await client.nextResponse()
    expect([status, json.error?.details?.issues[0]?.message]).toEqual([400, "ended before it was complete"])
    expect(responseHeaders["ratelimit-limit"]).toBe("30")
    expect(await client.end()).toBe("")
    expect(client.error).toBeUndefined()
  })
})

describe("slow clients (Specification, Lists and sync)", () => {
  const LATE = "must arrive sooner, before the server closes the connection"

  it("a request head that is incomplete at the timeout gets a response", async () => {
    // The timeout is long enough for the first bytes to arrive on a busy machine, because without bytes there is no
    // response.
    const server = await begin({ timeouts: { headMs: 500 } })
    const client = await server.client()
    await lastAnswer(client.send("GET /v1/shop HTTP/1.1\r\nHost: x\r\n"), LATE)
  })

  it("an unused connection is closed without a response, because a client could take the response for the response to its next request", async () => {
    const server = await begin({ timeouts: { headMs: 50 } })
    const client = await server.client()
    expect(await client.end()).toBe("")
    expect(client.error).toBeUndefined()
  })

  it("a request that arrived in time is served, even if the process was suspended and reads it after the timeout", async () => {
    const server = await begin({ timeouts: { headMs: 300, requestMs: 300 } })
    const client = await server.client()
    // When the server responds on a later connection, it has accepted this connection.
    await (await server.client()).request("GET /v1/shop", [server.key]).nextResponse()
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k"]
    client.request("POST /v1/tickets", headers, '{"service":"Hem"}')
    const until = performance.now() + 400
    while (performance.now() < until);
    const { status, json } = await client.nextResponse()
    expect([status, json.error]).toEqual([201, undefined])
  })

  it("a request whose body is incomplete at the timeout gets a response, even if the client stays connected", async () => {
    const server = await begin({ timeouts: { headMs: 50, requestMs: 50 } })
    const client = await server.client()
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k", "Content-Length: 10"]
    const { status, json } = await client.request("POST /v1/tickets", headers).send("{").nextResponse()
    expect([status, json.error?.details?.issues[0]?.message]).toEqual([400, "ended before it was complete"])
    expect(await client.end()).toBe("")
  })

  it("the server closes the connection of a refused request whose body never ends", async () => {
    const server = await begin({ timeouts: { headMs: 50, requestMs: 50 } })
    const client = await server.client()
    client.request("POST /v1/tickets", ["Content-Length: 1000000", "Connection: close"]).send("{")
    expect((await client.nextResponse()).status).toBe(401)
    await new Promise((resolve) => client.socket.resume().once("close", resolve).end())
  })

  it("the server disconnects a client that does not read its response", async () => {
    const huge = "x".repeat(16 * 1024 * 1024)
    let served: () => void
    const answered = new Promise<void>((resolve) => {
      served = resolve
    })
    const server = await begin({
      // The stopping timeouts are long, so that server.stop() ends in time only if the stall timeout closes the
      // connection.
      timeouts: { responseStallMs: 50, drainArrivalMs: 60_000, stoppingMs: 60_000 },
      branches: [
        {
          prefix: "/huge",
          handle: (_, context) =>
            Effect.sync(() => {
              served()
              return respond({ data: huge }, context)
            })
        }
      ]
    })
    const client = await server.client()
    client.request("GET /huge")
    client.socket.pause()
    await answered
    await server.stop()
  })
})

describe("several requests on one connection (Specification, Lists and sync)", () => {
  it("pipelined requests get their responses in order", async () => {
    const slow = gate()
    const server = await begin({ branches: [slow.branch] })
    const client = await server.client()
    client.request("GET /slow/first").request("GET /v1/shop", [server.key]).request("GET /nowhere")
    await slow.entered
    slow.open()
    expect((await client.nextResponse()).json.data).toEqual({ path: "/slow/first" })
    expect((await client.nextResponse()).json.data).toHaveProperty("currency")
    expect((await client.nextResponse()).status).toBe(404)
  })

  it("disconnecting a client interrupts only its own request", async () => {
    const slow = gate()
    const server = await begin({ branches: [slow.branch] })
    const gone = await server.client()
    gone.request("GET /slow/gone")
    await slow.entered
    gone.socket.destroy()
    await slow.interrupted
    expect((await (await server.client()).request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
  })

  it("a client that disconnects during its body, or resets the connection, does not affect other clients", async () => {
    const server = await begin()
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k", "Content-Length: 1000"]
    for (const leave of ["destroy", "resetAndDestroy"] as const) {
      const gone = await server.client()
      gone.request("POST /v1/tickets", headers).send('{"service":')
      gone.socket[leave]()
    }
    const client = await server.client()
    const list = await client.request("GET /v1/tickets", [server.key]).nextResponse()
    expect(list.json.data).toEqual([])
  })

  it.each(["GET", "BREW", "CONNECT"])(
    "a defect in the service gets a 500 INTERNAL response to %s, without the cause",
    async (method) => {
      const server = await begin({ branches: [{ prefix: "/bug", handle: () => Effect.die(new Error("secret")) }] })
      const { status, json, text, headers } = await (await server.client()).request(`${method} /bug`).nextResponse()
      expect([status, json.error?.code]).toEqual([500, "INTERNAL"])
      expect(text).toContain(headers["request-id"])
      expect(text).not.toContain("secret")
    }
  )
})

describe("The stop of a server (Specification, Commands)", () => {
  it("a stopping server finishes running requests, sends Connection: close, and accepts no new connections", async () => {
    const slow = gate()
    const server = await begin({ branches: [slow.branch] })
    const idle = await server.client()
    expect((await idle.request("GET /v1/shop", [server.key]).nextResponse()).headers.connection).toBe("keep-alive")
    const silent = await server.client()
    const client = await server.client()
    client.request("GET /slow/last")
    await slow.entered

    const stopped = server.stop()
    await idle.end()
    await silent.end()
    await expect(server.client()).rejects.toThrow("ECONNREFUSED")
    slow.open()
    const { json, headers } = await client.nextResponse()
    expect(json.data).toEqual({ path: "/slow/last" })
    expect(headers.connection).toBe("close")
    expect(await client.end()).toBe("")
    await stopped
  })

  it("a stopping server reads the rest of a body that a client is sending", async () => {
    const server = await begin()
    const client = await server.client()
    const body = '{"service":"Hem"}'
    const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k", "Expect: 100-continue"]
    client.request("POST /v1/tickets", [...headers, `Content-Length: ${body.length}`])
    expect((await client.nextResponse()).status).toBe(100)
    const stopped = server.stop()
    expect((await client.send(body).nextResponse()).status).toBe(201)
    await stopped
  })

  it("a stopping server disconnects requests that do not finish in time", async () => {
    const slow = gate()
    const server = await begin({ timeouts: { stoppingMs: 50 }, branches: [slow.branch] })
    const client = await server.client()
    client.request("GET /slow/forever")
    await slow.entered
    await server.stop()
    await slow.interrupted
    await client.end()
  })
})
