import { Probes, StoreUnavailable } from "@workshop/core"
import type { HttpRequest } from "@workshop/core/http"
import { bodyText } from "@workshop/core/internal"
import { Directory } from "@workshop/core/store"
import { pages } from "@workshop/http-node"
import { type Context, Effect, Logger } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { total } from "../metrics/Exposition.js"
import { type Running, start } from "./startServer.js"

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

const LARGE = 10 * 1024 * 1024

describe("methods and paths (Specification, Errors)", () => {
  it("HEAD responds as GET without a body, with GET's Content-Length", async () => {
    const client = await server.client()
    const get = await client.request("GET /v1/shop", [server.key]).nextResponse()
    const head = await client.request("HEAD /v1/shop", [server.key]).nextResponse({ toHead: true })
    expect([get.status, head.status]).toEqual([200, 200])
    expect(head.headers["content-length"]).toBe(String(Buffer.byteLength(get.text)))
    expect((await client.request("GET /v1/shop", [server.key]).nextResponse()).text).toBe(get.text)
  })

  it.each(["OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "PROPFIND"])(
    "the method %s gets a 404 with a key and a 401 without, and the connection stays open",
    async (method) => {
      const client = await server.client()
      const known = await client.request(`${method} /v1/shop`, [server.key]).nextResponse()
      const unknown = await client.request(`${method} /v1/shop`).nextResponse()
      expect([known.status, known.json.error?.code]).toEqual([404, "NOT_FOUND"])
      expect([unknown.status, unknown.json.error?.code]).toEqual([401, "UNAUTHENTICATED"])
      expect((await client.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    }
  )

  it.each(["BREW", "get", "GETT", "toString"])(
    "the method %s, which Node's parser rejects, gets a 404 with a key and a 401 without",
    async (method) => {
      const client = await server.client()
      const known = await client.request(`${method} /v1/shop`, [server.key]).nextResponse()
      expect([known.status, known.json.error?.code]).toEqual([404, "NOT_FOUND"])
      expect(Number(known.headers["ratelimit-remaining"])).toBeLessThan(120)
      expect(known.headers["request-id"]).toMatch(/^[0-9a-f]{24}$/)
      expect(known.headers.connection).toBe("close")
      expect(await client.end()).toBe("")

      const unknown = await (await server.client()).request(`${method} /v1/shop`).nextResponse()
      expect(unknown.status).toBe(401)
    }
  )

  it("a method of more than 32 characters is invalid HTTP", async () => {
    const client = await server.client()
    const { status, json } = await client.request(`${"A".repeat(60_000)} /v1/shop`, [server.key]).nextResponse()
    expect([status, json.error?.details?.issues[0]?.message]).toEqual([400, "must be valid HTTP/1.1"])
  })

  it.each(["/v1/sh%6Fp", "/v1/%74ickets", "/v1/%63lients?phone=%2B21620123456", "/v1/tickets/%62y-number/1"])(
    "the path %s gets a 404, because fixed path segments must not be percent-encoded",
    async (path) => {
      const client = await server.client()
      const { status, json } = await client.request(`GET ${path}`, [server.key]).nextResponse()
      expect([status, json.error?.code]).toEqual([404, "NOT_FOUND"])
    }
  )

  it("a parameter of a path may be percent-encoded", async () => {
    const client = await server.client()
    const plain = await client.request("GET /v1/tickets/by-number/0", [server.key]).nextResponse()
    const encoded = await client.request("GET /v1/tickets/by-number/%30", [server.key]).nextResponse()
    expect([encoded.status, encoded.json]).toEqual([400, plain.json])
  })

  it("OPTIONS * and paths outside the service are not found, and need no key", async () => {
    const client = await server.client()
    for (const line of ["OPTIONS *", "GET /", "GET /v2/shop", "GET /v1shop", "GET //v1/shop", "GET /favicon.ico"]) {
      const { status, json, headers } = await client.request(line).nextResponse()
      expect([line, status, json.error?.code]).toEqual([line, 404, "NOT_FOUND"])
      expect(headers["ratelimit-limit"]).toBe("120")
    }
  })

  it("a request with an absolute URL is routed by its path", async () => {
    const client = await server.client()
    const shop = await client.request("GET http://shop.example/v1/shop", [server.key]).nextResponse()
    expect(shop.status).toBe(200)
    const list = await client.request("GET HTTP://shop.example:80/v1/tickets?limit=1", [server.key]).nextResponse()
    expect(list.json.data).toEqual([])
    expect((await client.request("GET http://shop.example?limit=1").nextResponse()).status).toBe(404)
  })

  it("invalid percent-encoding is refused in the envelope", async () => {
    const client = await server.client()
    for (const line of ["GET /v1/tickets/%zz", "GET /v1/tickets/%", "GET /v1/%E0%A4%A", "GET /%zz"]) {
      const { status, json } = await client.request(line, [server.key]).nextResponse()
      expect([line, [400, 404].includes(status), json.success]).toEqual([line, true, false])
    }
  })

  it("a request to upgrade gets an ordinary response", async () => {
    const client = await server.client()
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    expect((await client.request("GET /v1/shop", [server.key, ...upgrade]).nextResponse()).status).toBe(200)
    expect((await client.request("GET /v1/shop", [server.key, "Upgrade: h2c"]).nextResponse()).status).toBe(200)
  })

  it("CONNECT opens no tunnel, but gets a 404, and the connection ends", async () => {
    const client = await server.client()
    const { status, json, headers } = await client
      .send("CONNECT example.com:443 HTTP/1.1", "Host: x", "", "")
      .nextResponse()
    expect([status, json.error?.code]).toEqual([404, "NOT_FOUND"])
    expect(headers["ratelimit-limit"]).toBe("120")
    expect(await client.end()).toBe("")
  })

  it("a request with an unknown method counts against the rate limit", async () => {
    const counted = async () => {
      const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
      return total(text, "workshop_http_requests_total", { method: "other", route: "none", status: "404" })
    }
    const before = await counted()
    await (await server.client()).request("BREW /coffee").nextResponse()
    await (await server.client()).send("CONNECT example.com:443 HTTP/1.1", "Host: x", "", "").nextResponse()
    expect(await counted()).toBe(before + 2)
  })
})

describe("bodies (Specification, Errors)", () => {
  const tooLarge = {
    status: 400,
    issues: [{ in: "body", field: "body", message: "must be at most 65536 bytes" }]
  }
  const idempotent = () => [server.key, "Content-Type: application/json", "Idempotency-Key: k"]

  it("a body of 200 kB with a Content-Length is read, so that the client gets the 400 and the connection stays open", async () => {
    const client = await server.client()
    client.request("POST /v1/tickets", idempotent(), "x".repeat(200_000))
    const { status, json } = await client.nextResponse()
    expect({ status, issues: json.error?.details?.issues }).toEqual(tooLarge)
    expect((await client.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
    expect(client.error).toBeUndefined()
  })

  it("a body of 200 kB in chunks is a 400 and ends the connection, because its length is unknown", async () => {
    const client = await server.client()
    client.request("POST /v1/tickets", [...idempotent(), "Transfer-Encoding: chunked"])
    for (let sent = 0; sent < 200_000; sent += 50_000) client.send(`c350\r\n${"x".repeat(50_000)}\r\n`)
    client.send("0\r\n\r\n")
    const { status, json, headers } = await client.nextResponse()
    expect({ status, issues: json.error?.details?.issues }).toEqual(tooLarge)
    expect(headers.connection).toBe("close")
    expect(await client.end()).toBe("")
    expect(client.error).toBeUndefined()
  })

  it("a body of 10 MB, or a too large body with Connection: close, is a 400 and ends the connection", async () => {
    for (const line of ["POST /v1/tickets", "POST /nowhere"]) {
      for (const [headers, bytes] of [
        [[], LARGE],
        [["Connection: close"], 200_000]
      ] as const) {
        const client = await server.client()
        client.request(line, [...idempotent(), ...headers], "x".repeat(bytes))
        const { json, headers: responseHeaders } = await client.nextResponse()
        expect([line, json.success, responseHeaders.connection]).toEqual([line, false, "close"])
        expect(await client.end()).toBe("")
        client.socket.destroy()
      }
    }
  })

  it("a body of exactly 65,536 bytes is read, and one more byte is refused", async () => {
    const client = await server.client()
    const body = (bytes: number) => JSON.stringify({ service: "" }).replace('""', `"${"x".repeat(bytes - 14)}"`)
    const max = await client.request("POST /v1/tickets", idempotent(), body(65_536)).nextResponse()
    const more = await client.request("POST /v1/tickets", idempotent(), body(65_537)).nextResponse()
    expect(max.json.error?.details?.issues.map(({ message }) => message)).not.toContain("must be at most 65536 bytes")
    expect(more.json.error?.details?.issues).toEqual(tooLarge.issues)
  })

  it("an unread body of a refused request does not disturb the next request", async () => {
    const client = await server.client()
    const body = "GET /v1/shop HTTP/1.1\r\n\r\n".repeat(1000)
    expect((await client.request("POST /v1/tickets", [], body).nextResponse()).status).toBe(401)
    expect((await client.request("POST /nowhere", [], body).nextResponse()).status).toBe(404)
    expect((await client.request("DELETE /v1/shop", [server.key], body).nextResponse()).status).toBe(404)
    expect((await client.request("GET /v1/shop", [server.key]).nextResponse()).status).toBe(200)
  })

  it("with Expect: 100-continue the server sends 100 Continue if the request is accepted", async () => {
    const client = await server.client()
    const body = '{"service":"Hem"}'
    client.send(
      "POST /v1/tickets HTTP/1.1",
      "Host: x",
      ...idempotent(),
      `Content-Length: ${body.length}`,
      "Expect: 100-continue",
      "",
      ""
    )
    expect((await client.nextResponse()).status).toBe(100)
    expect((await client.send(body).nextResponse()).status).toBe(201)
  })

  it("with Expect: 100-continue a request that is refused without its body gets no 100 Continue", async () => {
    for (const headers of [["Content-Length: 5"], [...idempotent(), "Content-Length: 70000"]]) {
      const client = await server.client()
      client.send("POST /v1/tickets HTTP/1.1", "Host: x", ...headers, "Expect: 100-continue", "", "")
      const { status, headers: responseHeaders } = await client.nextResponse()
      expect([400, 401]).toContain(status)
      expect(responseHeaders.connection).toBe("close")
      client.socket.end()
    }
  })

  it("any other value of Expect is ignored", async () => {
    const client = await server.client()
    expect((await client.request("GET /v1/shop", [server.key, "Expect: miracles"]).nextResponse()).status).toBe(200)
  })
})

describe("pages without the envelope (Specification, Commands)", () => {
  it.each(["/healthz", "/readyz", "/openapi.json"])(
    "%s responds with JSON without the envelope, to GET and HEAD",
    async (path) => {
      const client = await server.client()
      const get = await client.request(`GET ${path}`).nextResponse()
      expect([get.status, get.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"])
      expect(get.json).not.toHaveProperty("success")
      const head = await client.request(`HEAD ${path}`).nextResponse({ toHead: true })
      expect(head.headers["content-length"]).toBe(String(Buffer.byteLength(get.text)))
    }
  )

  it("another method of such a page, or a path below it, gets a 404 in the envelope", async () => {
    const client = await server.client()
    for (const line of ["POST /healthz", "DELETE /readyz", "GET /healthz/", "GET /openapi.json/x"]) {
      const { status, json } = await client.request(line).nextResponse()
      expect([line, status, json.error?.code]).toEqual([line, 404, "NOT_FOUND"])
    }
  })

  it("requests for such pages count against no limit, so their responses have no RateLimit headers (Specification, Limits)", async () => {
    const client = await server.client()
    const pages = ["/healthz", "/readyz", "/openapi.json", "/docs/", "/docs/none", "/healthz/none"]
    for (const path of pages) {
      const { headers } = await client.request(`GET ${path}`).nextResponse()
      expect([path, Object.keys(headers).filter((name) => name.startsWith("ratelimit"))]).toEqual([path, []])
    }
  })

  const shownWhile = async (refusal: StoreUnavailable, path: string, options: Parameters<typeof pages>[0] = {}) => {
    const away = Effect.fail(refusal)
    const directory = { keyByHash: () => away, latest: away } as unknown as Context.Tag.Service<Directory>
    const branches = await Effect.runPromise(Effect.provideService(pages(options), Directory, directory))
    const arrival = { method: "GET", path, query: "", header: () => undefined, address: "x", body: () => away }
    const branch = branches.find(({ prefix }) => prefix === path)!
    const departure = await Effect.runPromise(
      branch
        .handle(arrival as unknown as HttpRequest, { id: "r", now: 0, route: null, caller: null, limitStatuses: [] })
        .pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
    return { ...departure, body: bodyText(departure) }
  }

  it("/readyz responds 503 in the envelope while the store is unavailable, and /healthz does not use the store", async () => {
    const refusal = new StoreUnavailable({ cause: "postgres://secret" })
    const { status, headers, body } = await shownWhile(refusal, "/readyz")
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: "UNAVAILABLE" } })
    expect([status, headers["Retry-After"], body.includes("secret")]).toEqual([503, "1", false])
    expect((await shownWhile(refusal, "/healthz")).status).toBe(200)
  })

  it("/readyz responds with the store's remedy if there is one", async () => {
    const remedy = "The database has no schema: run workshop migrate"
    const { status, body } = await shownWhile(new StoreUnavailable({ cause: "postgres://secret", remedy }), "/readyz")
    expect([status, JSON.parse(body).error]).toEqual([503, { code: "UNAVAILABLE", message: remedy }])
  })

  it("/readyz responds 200 and names unavailable cells with their remedies, because the node can serve the other shops", async () => {
    // The home cell, which stores the keys, may be the unavailable cell.
    const keyByHash = () => new StoreUnavailable({})
    const directory = { keyByHash, latest: Effect.succeed(0) } as unknown as Context.Tag.Service<Directory>
    const remedy = "run workshop migrate --roles"
    const probes = new Set([{ unavailable: Effect.succeed([{ name: "north" }, { name: "south", remedy }]) }])
    const branches = await Effect.runPromise(
      pages().pipe(Effect.provideService(Directory, directory), Effect.provideService(Probes, probes))
    )
    const arrival = { method: "GET", path: "/readyz", query: "", header: () => undefined, address: "x" }
    const page = await Effect.runPromise(
      branches
        .find(({ prefix }) => prefix === "/readyz")!
        .handle(arrival as unknown as HttpRequest, { id: "r", now: 0, route: null, caller: null, limitStatuses: [] })
        .pipe(Effect.provideService(Probes, probes))
    )
    expect([page.status, JSON.parse(bodyText(page))]).toEqual([
      200,
      { status: "ready", unavailable: ["north", "south"], remedies: { south: remedy } }
    ])
  })

  it("/openapi.json is an OpenAPI 3.1 document", async () => {
    const { json } = await (await server.client()).request("GET /openapi.json").nextResponse()
    expect(json).toMatchObject({ openapi: "3.1.0", paths: { "/v1/tickets": { post: expect.anything() } } })
  })

  it("/openapi.json contains the URL of its server", async () => {
    const { json } = await (await server.client()).request("GET /openapi.json").nextResponse()
    expect(json).toMatchObject({ servers: [{ url: "/", description: "This server" }] })
  })

  it("/openapi.json names the configured signature header of webhooks (Specification, Webhooks)", async () => {
    const away = new StoreUnavailable({ cause: "none" })
    const { body } = await shownWhile(away, "/openapi.json", { signatureHeader: "X-Lac-Signature" })
    expect(JSON.parse(body).webhooks.ping.post.parameters).toMatchObject([{ name: "X-Lac-Signature", in: "header" }])
  })
})
