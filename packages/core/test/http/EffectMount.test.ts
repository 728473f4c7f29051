import { HttpApp, HttpRouter, HttpServerResponse } from "@effect/platform"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { httpApp } from "../../src/http/EffectMount.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { Caller } from "../../src/services/Caller.js"
import * as Profanity from "../../src/services/Profanity.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import { layer as services } from "../../src/services/Workshop.js"

const runtime = ManagedRuntime.make(
  services.pipe(
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(4))
  )
)
afterAll(() => runtime.dispose())

const shop = await runtime.runPromise(
  Effect.flatMap(Shops, ({ create }) =>
    create(Schema.decodeSync(ShopInput)({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }))
  )
)

const amira = Schema.decodeSync(Caller)({
  shop_id: shop.id,
  caller_id: "019a0000-0000-7000-8000-000000000001",
  scopes: ["tickets:read", "tickets:write"],
  via: "api"
})

const response = await runtime.runPromise(
  Effect.gen(function* () {
    const api = yield* httpApp({
      authenticate: ({ headers }) => Effect.succeed(headers.cookie === "session=amira" ? amira : null)
    })
    const router = HttpRouter.empty.pipe(
      HttpRouter.get("/", HttpServerResponse.text("my own")),
      HttpRouter.mountApp("/workshop", api)
    )
    return HttpApp.toWebHandler(router)
  })
)

const ask = (path: string, init: RequestInit = {}) => response(new Request(`http://127.0.0.1${path}`, init))

const create = (body: string, key = "one") => ({
  method: "POST",
  headers: { cookie: "session=amira", "idempotency-key": key, "content-type": "application/json" },
  body
})

describe("The API as an HttpApp", () => {
  it("the mounted API responds together with the router's own routes", async () => {
    expect(await (await ask("/")).text()).toBe("my own")
    const created = await ask("/workshop/v1/tickets", create('{"service":"Hem"}'))
    expect(created.status).toBe(201)
    expect(created.headers.get("content-type")).toBe("application/json; charset=utf-8")
    expect(await created.json()).toMatchObject({ success: true, data: { number: 1 }, meta: { replayed: false } })
    const listed = await ask("/workshop/v1/tickets?limit=1", { headers: { cookie: "session=amira" } })
    expect(await listed.json()).toMatchObject({ data: [{ service: "Hem" }], meta: { has_more: false } })
  })

  it("the mounted API responds under its prefix if the router passes on the whole path", async () => {
    const handle = HttpApp.toWebHandler(
      await runtime.runPromise(httpApp({ prefix: "/workshop", authenticate: () => Effect.succeed(amira) }))
    )
    const statusOf = async (path: string) => (await handle(new Request(`http://127.0.0.1${path}`))).status
    expect([await statusOf("/workshop/v1/shop"), await statusOf("/v1/shop")]).toEqual([200, 404])
  })

  it("the mounted API uses the server's own sessions (Specification, Keys and scopes)", async () => {
    expect((await ask("/workshop/v1/shop")).status).toBe(401)
    const read = await ask("/workshop/v1/shop", { headers: { cookie: "session=amira" } })
    expect(await read.json()).toMatchObject({ data: { id: shop.id } })
  })

  it("the mounted API accepts a body of 64 KiB, and refuses one byte more with its reason (Specification, Errors)", async () => {
    const padded = (bytes: number) => ask("/workshop/v1/tickets", create('{"service":"Hem"}'.padEnd(bytes), "padded"))
    expect((await padded(65_536)).status).toBe(201)
    const large = await padded(65_537)
    expect(await large.json()).toMatchObject({
      error: { code: "VALIDATION_ERROR", details: { issues: [{ in: "body", message: "must be at most 65536 bytes" }] } }
    })
  })
})
