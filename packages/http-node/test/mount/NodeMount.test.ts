import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Entropy } from "@workshop/core"
import { start } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { RawClient } from "../server/RawClient.js"

const workshop = await start({ store: MemoryStore.layer, randomBytes: Entropy.seededBytes(9), background: false })
afterAll(() => workshop.stop())

const opened = async () => {
  const shop = await workshop.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  if (!shop.ok) throw new Error("refused")
  const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw new Error("refused")
  return { shop_id: shop.value.id, key: key.value.key }
}

const closing: Array<() => void> = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const create = (key: string, body: unknown, idempotency = "one") => ({
  method: "POST",
  headers: { authorization: `Bearer ${key}`, "idempotency-key": idempotency, "content-type": "application/json" },
  body: JSON.stringify(body)
})

/** A middleware that reads the body and sets `request.body`, as body parsers do. */
const parsing =
  (handle: RequestListener): RequestListener =>
  async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) })
    handle(request, response)
  }

describe("The API mounted in a Node server", () => {
  it("the mounted API responds under its prefix, and leaves every other path to the server", async () => {
    const { key } = await opened()
    const handle = mountNode(workshop, { prefix: "/workshop" })
    const base = await listening((request, response) => handle(request, response, () => response.end("my own")))
    const created = await fetch(`${base}/workshop/v1/tickets`, create(key, { service: "Hem" }))
    expect(created.status).toBe(201)
    expect(await (await fetch(`${base}/v1/tickets`, { headers: { authorization: `Bearer ${key}` } })).text()).toBe(
      "my own"
    )
    expect(await (await fetch(`${base}/workshop/v1x`)).text()).toBe("my own")
  })

  it("the mounted API responds 404 to paths outside it if there is no next handler", async () => {
    const base = await listening(mountNode(workshop, { prefix: "/workshop/" }))
    const lost = await fetch(`${base}/v1/shop`)
    expect(lost.status).toBe(404)
    expect(await lost.json()).toMatchObject({ success: false, error: { code: "NOT_FOUND" } })
  })

  it("the mounted API serves tracking pages only if enabled, optionally for one shop only and with the embedder's template", async () => {
    const { shop_id, key } = await opened()
    const [base, own] = await Promise.all([
      listening(mountNode(workshop, { prefix: "/workshop" })),
      listening(
        mountNode(workshop, {
          prefix: "/workshop",
          trackingPages: {
            shopId: shop_id,
            template: ({ items, state }, { language }) => `${language}: ${items} ${state}`
          }
        })
      )
    ])
    const { data } = (await (
      await fetch(`${own}/workshop/v1/tickets`, create(key, { service: "Hem", item: "Coat" }, "tracked"))
    ).json()) as { readonly data: { readonly tracking_code: string } }
    const path = `/workshop/t/${data.tracking_code}`
    const headers = { "accept-language": "fr" }
    const page = await fetch(`${own}${path}`, { headers })
    expect([page.status, await page.text()]).toEqual([200, "fr: Coat workshop"])
    const policy = page.headers.get("content-security-policy")
    expect(policy).toContain("default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;")
    expect(policy).not.toContain("script-src")
    expect((await fetch(`${base}${path}`)).status).toBe(404)

    const stranger = await opened()
    const foreign = await fetch(`${own}/workshop/v1/tickets`, create(stranger.key, { service: "Hem" }, "foreign"))
    const other = ((await foreign.json()) as { readonly data: { readonly tracking_code: string } }).data
    const lost = await fetch(`${own}/workshop/t/${other.tracking_code}`, { headers })
    expect([lost.status, (await lost.text()).includes("Ticket introuvable")]).toEqual([404, true])
  })

  it("the mounted API accepts a body that another parser has already read", async () => {
    const { key } = await opened()
    const base = await listening(parsing(mountNode(workshop)))
    const created = await fetch(`${base}/v1/tickets`, create(key, { service: "Hem" }))
    expect(await created.json()).toMatchObject({ success: true, data: { service: "Hem" } })
    const wrong = await fetch(`${base}/v1/tickets`, create(key, { servce: "Hem" }, "two"))
    expect(wrong.status).toBe(400)
  })

  it("the mounted API does not serialize parsed bodies of requests outside its prefix, which JSON may be unable to represent", async () => {
    const own = mountNode(workshop)
    const base = await listening(
      parsing((request, response) => {
        Object.assign(request, { body: { big: 1n } })
        own(request, response, () => response.end("my own"))
      })
    )
    expect(await (await fetch(`${base}/elsewhere`, create("", {}))).text()).toBe("my own")
  })

  it("the mounted API uses the server's own sessions instead of keys (Specification, Keys and scopes)", async () => {
    const { shop_id } = await opened()
    const caller_id = "019a0000-0000-7000-8000-000000000001"
    const authenticate = ({ headers }: IncomingMessage) =>
      headers.cookie === "session=amira" ? { shop_id, caller_id, scopes: ["tickets:read"] as const } : null
    const base = await listening(mountNode(workshop, { authenticate }))
    const read = await fetch(`${base}/v1/shop`, { headers: { cookie: "session=amira" } })
    expect(await read.json()).toMatchObject({ data: { id: shop_id, scopes: ["tickets:read"] } })
    expect(read.headers.get("ratelimit-limit")).toBe("120")
    expect((await fetch(`${base}/v1/shop`)).status).toBe(401)
    const denied = await fetch(`${base}/v1/tickets`, {
      ...create("", { service: "Hem" }),
      headers: { cookie: "session=amira", "idempotency-key": "one", "content-type": "application/json" }
    })
    expect(await denied.json()).toMatchObject({ error: { code: "FORBIDDEN", details: { scope: "tickets:write" } } })
  })

  it("a workshop with one mount for sessions and one for keys refuses sessions at the mount for keys and keys at the mount for sessions", async () => {
    const { shop_id, key } = await opened()
    const authenticate = ({ headers }: IncomingMessage) =>
      headers.cookie === "session=amira" ? { shop_id, caller_id: "amira", scopes: ["tickets:read"] as const } : null
    const sessions = mountNode(workshop, { prefix: "/workshop", authenticate })
    const keys = mountNode(workshop, { prefix: "/tills" })
    const base = await listening((request, response) =>
      sessions(request, response, () => keys(request, response, () => response.end("my own")))
    )
    const created = await (await fetch(`${base}/tills/v1/tickets`, create(key, { service: "Hem" }))).json()
    const cookie = { headers: { cookie: "session=amira" } }
    const seen = await (await fetch(`${base}/workshop/v1/tickets/${created.data.id}`, cookie)).json()
    expect(seen.data).toEqual(created.data)
    expect((await fetch(`${base}/tills/v1/tickets`, cookie)).status).toBe(401)
    expect((await fetch(`${base}/workshop/v1/tickets`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(
      401
    )
    expect(await (await fetch(`${base}/elsewhere`)).text()).toBe("my own")
  })

  it("a request without a session is refused with the server's own message, which does not mention keys (Specification, Keys and scopes)", async () => {
    const responseOf = async (unauthenticated?: { readonly message: string; readonly challenge?: string }) => {
      const options = { authenticate: () => null, ...(unauthenticated && { unauthenticated }) }
      const { status, headers, ...response } = await fetch(
        `${await listening(mountNode(workshop, options))}/v1/shop`
      ).then(async (response) => ({
        status: response.status,
        headers: response.headers,
        json: (await response.json()) as unknown
      }))
      return [status, headers.get("www-authenticate"), response.json]
    }
    const failure = (message: string) => ({ success: false, error: { code: "UNAUTHENTICATED", message } })
    expect(await responseOf()).toEqual([401, null, failure("You are not signed in. Sign in first.")])
    const own = { message: "Open /login", challenge: 'Basic realm="shop"' }
    expect(await responseOf(own)).toEqual([401, 'Basic realm="shop"', failure("Open /login")])
  })

  it("the mounted API responds 401 if authenticate names an unknown shop, and 500 without details if authenticate throws", async () => {
    const never = "019a0000-0000-7000-8000-00000000dead"
    const nobody = await listening(
      mountNode(workshop, { authenticate: () => ({ shop_id: never, caller_id: never, scopes: [] }) })
    )
    expect((await fetch(`${nobody}/v1/shop`)).status).toBe(401)
    const broken = await listening(
      mountNode(workshop, {
        authenticate: async () => {
          throw new Error("the session store is at 10.0.0.7")
        }
      })
    )
    const failed = await fetch(`${broken}/v1/shop`)
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain("10.0.0.7")
  })

  it("a mount buffers at most 64 MiB of unread responses, and then disconnects the client whose response is unread for longest (docs/embed.md)", async () => {
    const { shop_id, key } = await opened()
    // The test uses two keys, so that neither reaches its rate limit.
    const reading = await workshop.keys.create(shop_id, { name: "reader", scopes: ["tickets:read"] })
    const bearer = reading.ok ? `Bearer ${reading.value.key}` : ""
    const sockets: Array<Socket> = []
    const handle = mountNode(workshop)
    let isHeld = false
    const base = await listening((request, response) => {
      if (isHeld && !sockets.includes(request.socket)) {
        // Simulates full kernel buffers of a client that does not read: the socket's writes never complete.
        Object.assign(request.socket, { _write: () => undefined, _writev: () => undefined })
        sockets.push(request.socket)
      }
      handle(request, response)
    })
    const items = Array.from({ length: 20 }, () => ({ label: "€".repeat(200), service: "€".repeat(120) }))
    const large = { service: "Hem", description: "€".repeat(2_000), items }
    for (let i = 0; i < 30; i++)
      expect((await fetch(`${base}/v1/tickets`, create(key, large, `n${i}`))).status).toBe(201)
    const headers = { authorization: bearer }
    const page = await (await fetch(`${base}/v1/tickets?limit=30`, { headers })).text()
    const each = Buffer.byteLength(page)
    expect(each).toBeGreaterThan(700_000)
    isHeld = true
    const max = 64 * 2 ** 20
    const port = Number(new URL(base).port)
    const clients = []
    for (let i = 0; i <= max / each + 10; i++) {
      const client = await RawClient.connect(port)
      clients.push(client)
      client.request("GET /v1/tickets?limit=30", [`Authorization: ${bearer}`])
      await untilAsync(
        "a response that is not read",
        () => sockets[i]?.writableLength ?? 0,
        (length) => length > 0
      )
      expect(sockets.filter(({ destroyed }) => !destroyed).length * each).toBeLessThanOrEqual(max)
    }
    const left = sockets.map(({ destroyed }) => !destroyed)
    expect(left.indexOf(true)).toBeGreaterThan(8)
    expect(left.lastIndexOf(false)).toBe(left.indexOf(true) - 1)
    for (const { socket } of clients) socket.destroy()
  }, 60_000)
})
