import * as MemoryStore from "@workshop/store-memory"
import { Cause, Layer, Logger } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { mountFetch } from "../../src/http/FetchMount.js"
import type { CallerFields } from "../../src/http/Mount.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { StoreUnavailable } from "../../src/ports/StorePorts.js"
import { start } from "../../src/services/promise/PromiseWorkshop.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const log: Array<string> = []
const logger = Logger.make(({ message, cause }) => void log.push(`${message}: ${Cause.pretty(cause)}`))

const workshop = await start({
  store: Layer.provideMerge(MemoryStore.layer, Logger.replace(Logger.defaultLogger, logger)),
  randomBytes: Entropy.seededBytes(11),
  clock: new SettableClock(),
  background: false
})
afterAll(() => workshop.stop())

const opened = await workshop.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
if (!opened.ok) throw opened.refusal
const shop_id = opened.value.id
const caller_id = "019a0000-0000-7000-8000-000000000001"

const response = mountFetch(workshop, {
  prefix: "/workshop",
  authenticate: async ({ headers }) =>
    headers.get("cookie") === "session=amira" ? { shop_id, caller_id, scopes: ["tickets:read"] } : undefined,
  unauthenticated: { message: "Open /login" },
  addressOf: ({ headers }) => headers.get("x-from") ?? "unknown"
})

const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  response(new Request(`https://shop.example${path}`, { headers }))

describe("The API as a fetch function", () => {
  it("a bearer token given twice, which Headers join with a comma, is refused (Specification, Lists and sync)", async () => {
    const response = mountFetch(workshop)
    const headers = new Headers({ authorization: "Bearer wk_live_one" })
    headers.append("authorization", "Bearer wk_live_two")
    const twice = await response(new Request("https://shop.example/v1/shop", { headers }))
    const issue = { in: "header", field: "Authorization", message: "is given twice; send it only once" }
    expect([twice.status, (await twice.json()).error.details]).toEqual([400, { issues: [issue] }])
  })

  it("the mounted API responds only under its prefix, and uses the server's own sessions (Specification, Keys and scopes)", async () => {
    const cookie = "session=amira"
    expect(await (await read("/workshop/v1/shop", { cookie })).json()).toMatchObject({ data: { id: shop_id } })
    expect((await read("/v1/shop", { cookie })).status).toBe(404)
    expect((await read("/workshopper/v1/shop", { cookie })).status).toBe(404)
  })

  it("a request is a 503 if authenticate rejects with StoreUnavailable, and a 500 for its other errors", async () => {
    for (const [error, status] of [
      [new StoreUnavailable({ reason: "connect ECONNREFUSED 127.0.0.1:5432" }), 503],
      [new Error("no such column"), 500]
    ] as const) {
      const broken = mountFetch(workshop, { authenticate: () => Promise.reject(error) })
      const response = await broken(new Request("https://shop.example/v1/shop"))
      expect([response.status, response.headers.has("retry-after")]).toEqual([status, status === 503])
      expect(await response.text()).not.toContain("ECONNREFUSED")
    }
  })

  it("unknown callers get the server's own message, and are counted by address (Specification, Limits)", async () => {
    const from = (address: string) => read("/workshop/v1/shop", { "x-from": address })
    const first = await from("192.0.2.1")
    expect([first.status, await first.json()]).toMatchObject([401, { error: { message: "Open /login" } }])
    const left = async (address: string) => Number((await from(address)).headers.get("ratelimit-remaining"))
    const before = await left("192.0.2.1")
    expect(await left("192.0.2.1")).toBe(before - 1)
    expect(await left("192.0.2.2")).toBe(before + 1)
  })

  it("IPv6 addresses are counted by networks of the configured size", async () => {
    const sized = mountFetch(workshop, { ipv6Prefix: 56, addressOf: ({ headers }) => headers.get("x-from") ?? "" })
    const left = async (address: string) =>
      (await sized(new Request("https://shop.example/v1/shop", { headers: { "x-from": address } }))).headers.get(
        "ratelimit-remaining"
      )
    expect(await left("2001:db8:1:200::1")).toBe("119")
    expect(await left("2001:db8:1:2ff::1")).toBe("118")
    expect(await left("2001:db8:1:300::1")).toBe("119")
  })

  it("the mounted API accepts a body of 64 KiB, and refuses one byte more with its reason (Specification, Errors)", async () => {
    const caller: CallerFields = { shop_id, caller_id, scopes: ["tickets:write"] }
    const write = mountFetch(workshop, { authenticate: () => caller })
    const headers = { "idempotency-key": "one", "content-type": "application/json" }
    const padded = (bytes: number) => {
      const body = '{"service":"Hem"}'.padEnd(bytes)
      return write(new Request("https://shop.example/v1/tickets", { method: "POST", headers, body }))
    }
    expect((await padded(65_536)).status).toBe(201)
    const large = await padded(65_537)
    expect([large.status, await large.json()]).toMatchObject([
      400,
      { error: { details: { issues: [{ in: "body", message: "must be at most 65536 bytes" }] } } }
    ])
  })

  it.each([
    ["caller_id must be 1 to 80 characters", { shop_id, caller_id: "4".repeat(81), scopes: [] }],
    ["shop_id is required; scopes.0 must be one of tickets:read, ", { caller_id, scopes: ["tickets:delete"] }],
    ["shop_id is required; caller_id is required; scopes is required", "amira"],
    [
      "role is unknown; correct its name or remove it",
      { shop_id, caller_id, scopes: [], via: "app", uncounted: undefined, role: "owner" }
    ]
  ])("a request is a 500 if authenticate returns no caller, and the log says: %s", async (logged, fields) => {
    log.length = 0
    const wrong = mountFetch(workshop, { authenticate: () => fields as CallerFields })
    const { status } = await wrong(new Request("https://shop.example/v1/shop"))
    expect(status).toBe(500)
    expect(log).toEqual([expect.stringContaining(`authenticate returned neither null nor a caller: ${logged}`)])
  })

  it("a refusal is sent even if other code holds the body and has not read it", async () => {
    const request = new Request("https://shop.example/workshop/v1/tickets", { method: "POST", body: "{}" })
    request.body?.getReader()
    expect((await response(request)).status).toBe(401)
  })

  it("a request is a 401 if authenticate names a shop that does not exist, and the log says so", async () => {
    log.length = 0
    const never = "019a0000-0000-7000-8000-00000000dead"
    const lost = mountFetch(workshop, { authenticate: () => ({ shop_id: never, caller_id, scopes: [] }) })
    const { status } = await lost(new Request("https://shop.example/v1/shop"))
    expect(status).toBe(401)
    expect(log).toEqual([
      expect.stringContaining(`The authentication function returned the shop_id ${never}, but no shop has this id`)
    ])
  })
})
