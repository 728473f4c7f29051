import { readFileSync } from "node:fs"
import { HttpApi, HttpApiBuilder, HttpApp, HttpRouter, HttpServer } from "@effect/platform"
import { PgClient } from "@effect/sql-pg"
import { createClient } from "@workshop/client"
import {
  type Imports,
  probe,
  ShopId,
  StoreUnavailable,
  sandboxAddresses,
  TicketId,
  TicketInput,
  Tickets,
  WebhookPolicy
} from "@workshop/core"
import { type Directory, Store } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import * as MemoryStore from "@workshop/store-memory"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { MigratedStore } from "@workshop/store-pg"
import { sign } from "@workshop/webhooks"
import {
  ConfigProvider,
  Context,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  ManagedRuntime,
  Redacted,
  Runtime,
  Schema,
  Scope,
  TestClock,
  TestContext
} from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { testDatabase } from "../../packages/store-pg/test/cluster/TestDatabase.js"
import { freePort } from "../../test/freePort.js"
import { untilAsync } from "../../test/until.js"
import { makeApp } from "./app.js"
import { download } from "./Download.js"
import { Health, metrics, readyz } from "./HealthApi.js"
import { Hooks, received } from "./Hook.js"
import { api, layer as server } from "./Server.js"
import { MyShop, sendTo } from "./Shop.js"
import { upload } from "./Upload.js"
import { background, openShop, servicesOn, workshop } from "./workshop.js"

it("an Effect server mounts the API in its router, next to its own route on the same services", async () => {
  const runtime = ManagedRuntime.make(workshop)
  const { app, key } = await runtime.runPromise(
    Effect.gen(function* () {
      const { counter, key } = yield* openShop
      return { app: HttpApp.toWebHandlerRuntime(yield* Effect.runtime<Directory>())(yield* makeApp(counter)), key }
    })
  )
  const client = createClient({ baseUrl: "http://shop.example/workshop", key, fetch: app })
  expect(await client.tickets.create({ service: "Hem" })).toMatchObject({ ok: true, value: { number: 1 } })
  const at = async (path: string) => (await app(new Request(`http://shop.example${path}`))).text()
  expect(await at("/counter/1")).toBe("Hem: workshop\n")
  expect(await at("/counter/2")).toBe("No such ticket\n")
  expect(await at("/counter/zero")).toBe("No such ticket\n")
  expect(await at("/elsewhere")).toBe("Nothing here\n")
  expect(await at("/readyz")).toBe('{"ready":true,"reason":null}')
  const metrics = await at("/metrics")
  expect(metrics).toMatch(/^workshop_deliveries_in_flight 0$/m)
  expect(metrics).toMatch(/^workshop_http_requests_total{method="POST",route="\/v1\/tickets",status="201"} [1-9]\d*$/m)
  expect(metrics).toMatch(/^process_uptime_seconds /m)
  await runtime.dispose()
})

it("an HttpApi serves metrics and readiness as a group, with a 503 and the reason while the process is not ready", async () => {
  class MyApi extends HttpApi.make("mine").add(Health) {}
  const health = HttpApiBuilder.group(MyApi, "health", (handlers) =>
    handlers.handle("metrics", metrics).handle("readyz", readyz)
  )
  const complaints: Array<string> = []
  const api = HttpApiBuilder.api(MyApi).pipe(
    Layer.provide(health),
    Layer.provide(Layer.scopedDiscard(probe({ complaint: Effect.sync(() => complaints[0] ?? null) }))),
    Layer.provide(workshop)
  )
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(api, HttpServer.layerContext))
  const at = async (path: string) => {
    const response = await handler(new Request(`http://shop.example${path}`))
    return [response.status, response.headers.get("content-type"), await response.text()]
  }
  const json = "application/json"
  expect(await at("/readyz")).toEqual([200, json, '{"ready":true}'])
  complaints.push("The clock is wrong")
  expect(await at("/readyz")).toEqual([503, json, '{"ready":false,"reason":"The clock is wrong"}'])
  expect(await at("/metrics")).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
    expect.stringMatching(/^workshop_deliveries_in_flight 0$/m)
  ])
  await dispose()
})

it("an HttpApi receives webhooks, and checks the raw body's signature with Effect's clock", async () => {
  class MyApi extends HttpApi.make("mine").add(Hooks) {}
  const types: Array<string> = []
  const hooks = HttpApiBuilder.group(MyApi, "hooks", (handlers) =>
    handlers.handleRaw(
      "workshop",
      received("whsec_1", ({ type }) => Effect.sync(() => types.push(type)))
    )
  )
  const clock = new SettableClock()
  const api = HttpApiBuilder.api(MyApi).pipe(Layer.provide(hooks), Layer.provideMerge(Layer.setClock(clock)))
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(api, HttpServer.layerContext))
  const body = '{ "id": "1", "type": "ticket.ready" }'
  const send = async (at: number) => {
    const headers = { "content-type": "application/json", "service-signature": await sign(body, "whsec_1", at) }
    return (await handler(new Request("http://shop.example/hook", { method: "POST", headers, body }))).status
  }
  expect([await send(clock.unsafeCurrentTimeMillis()), await send(0)]).toEqual([200, 400])
  expect(types).toEqual(["ticket.ready"])
  await dispose()
})

describe("an upload of JSON lines", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => `{"external_ref":"A-${n + 1}","service":"Hem"}\n`).join("")

  /** Makes the routes of a new shop, whose store becomes unavailable after this number of commands. */
  const opened = async (commands = Number.POSITIVE_INFINITY) => {
    const store = Layer.map(MemoryStore.layer, (context) => {
      const { transact, ...rest } = Context.get(context, Store)
      let left = commands
      const failing: typeof transact = (command) =>
        left-- > 0 ? transact(command) : Effect.fail(new StoreUnavailable({}))
      return Context.add(context, Store, { ...rest, transact: failing })
    })
    const runtime = ManagedRuntime.make(servicesOn(store))
    const app = await runtime.runPromise(
      Effect.gen(function* () {
        const { shop_id } = (yield* openShop).counter
        const router = HttpRouter.empty.pipe(
          HttpRouter.post("/import", upload(shop_id)),
          HttpRouter.get("/export", download(shop_id))
        )
        return HttpApp.toWebHandlerRuntime(yield* Effect.runtime<Imports>())(router)
      })
    )
    const sent = async (body: string, type = "application/x-ndjson") => {
      const headers = { "content-type": type }
      const response = await app(new Request("http://shop.example/import", { method: "POST", headers, body }))
      return [response.status, await response.json()]
    }
    return { app, sent, [Symbol.asyncDispose]: () => runtime.dispose() }
  }

  it("an upload imports the lines, lists the invalid ones, and a download returns them again", async () => {
    await using shop = await opened()
    const report = { tickets: 2, bad: 1, bad_rows: [{ line: 3 }] }
    expect(await shop.sent(`${lines(2)}no JSON\n`)).toMatchObject([200, report])
    expect(await shop.sent("")).toMatchObject([422, { rows: 0 }])
    const exported = (await (await shop.app(new Request("http://shop.example/export"))).text()).trimEnd().split("\n")
    expect(exported.map((line) => JSON.parse(line).external_ref)).toEqual(["A-2", "A-1"])
  })

  it("an upload with another content type is refused, and an upload that an unavailable store ends reports the written rows", async () => {
    // The first command creates the shop, and the second writes 500 rows.
    await using shop = await opened(2)
    expect(await shop.sent(lines(2), "application/x-www-form-urlencoded")).toMatchObject([
      415,
      { error: { message: expect.stringContaining("application/x-ndjson") } }
    ])
    expect(await shop.sent(lines(600))).toMatchObject([
      503,
      { success: false, error: { code: "UNAVAILABLE" }, so_far: { rows: 500, tickets: 500 } }
    ])
  })
})

describe("an HttpApi with orders, webhooks and uploads on Postgres", { timeout: 60_000 }, () => {
  interface Started {
    readonly base: string
    readonly url: string
    /** The errors in the log of the program. */
    readonly errors: ReadonlyArray<string>
  }
  const orders = async (work: (server: Started) => Promise<void>) => {
    const errors: Array<string> = []
    const log = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === LogLevel.Error) errors.push(String(message))
    })
    const program = Effect.gen(function* () {
      const { url } = yield* testDatabase
      // The program's own rows are in the schema public.
      const own = `${url}?options=${encodeURIComponent("-c search_path=public")}`
      const port = yield* Effect.promise(() => freePort())
      const base = `http://127.0.0.1:${port}`
      const config = new Map([
        ["DATABASE_URL", own],
        ["PORT", String(port)],
        ["HOOK_URL", `${base}/hook`]
      ])
      yield* Layer.build(
        background.pipe(
          Layer.provide(server),
          Layer.provide(servicesOn(MigratedStore.layer({ url }))),
          Layer.provide(Layer.succeed(WebhookPolicy, sandboxAddresses)),
          Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(config))),
          Layer.provide(Logger.replace(Logger.defaultLogger, log))
        )
      )
      yield* Effect.promise(() => work({ base, url: own, errors }))
    })
    await Effect.runPromise(Effect.scoped(program))
  }

  const placing = (base: string, id: string) => {
    const headers = { cookie: "session=amira", "content-type": "application/json" }
    const body = JSON.stringify({ id, customer: "Ada", ticket: { service: "Hem" } })
    return fetch(`${base}/orders`, { method: "POST", headers, body })
  }

  it("an order whose connection is lost is placed once, and fails after four attempts", () =>
    orders(async ({ base, url }) => {
      const pool = new pg.Pool({ connectionString: url })
      // A rollback does not reset a sequence, so it counts the attempts.
      await pool.query(`create sequence attempts;
        create function cut() returns trigger language plpgsql as $$ begin
          if nextval('attempts') = 1 or new.id = 'A2' then perform pg_terminate_backend(pg_backend_pid()); end if;
          return new;
        end $$;
        create trigger cut before insert on orders for each row execute function cut()`)
      const attempts = async () => Number((await pool.query("select last_value from attempts")).rows[0].last_value)
      const placed = await placing(base, "A1")
      expect([placed.status, await placed.json(), await attempts()]).toEqual([201, { id: "A1", number: "0001" }, 2])
      const refused = await placing(base, "A2")
      expect([refused.status, (await refused.json()).error.code, await attempts()]).toEqual([503, "UNAVAILABLE", 6])
      await pool.end()
    }))

  it("a test's shop is provided by a layer of MyShop (docs/test-your-app.md)", () =>
    orders(async ({ url }) => {
      const { workshop, shop, stop } = await createTestWorkshop()
      const testShop = Layer.succeed(
        MyShop,
        MyShop.make({ id: Schema.decodeSync(ShopId)(shop.id), secret: "whsec_test" })
      )
      const scope = Effect.runSync(Scope.make())
      const layer = Layer.mergeAll(
        Layer.provide(api, [testShop, PgClient.layer({ url: Redacted.make(url) })]),
        HttpApiBuilder.Router.Live,
        HttpApiBuilder.Middleware.layer,
        HttpServer.layerContext
      )
      const runtime = await Runtime.runPromise(workshop.runtime)(Scope.extend(Layer.toRuntime(layer), scope))
      const handler = HttpApp.toWebHandlerRuntime(runtime)(Effect.flatten(HttpApiBuilder.httpApp))
      const headers = { cookie: "session=amira" }
      const response = await handler(new Request("http://test/workshop/v1/tickets", { headers }))
      expect([response.status, (await response.json()).data]).toEqual([200, []])
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await stop()
    }))

  it("an order and its ticket are placed together or not at all, webhooks update the order, and refusals have one format", () =>
    orders(async ({ base, url, errors }) => {
      const send = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
        const all = { cookie: "session=amira", "content-type": "application/json", ...headers }
        const response = await fetch(`${base}${path}`, { method, headers: all, ...(body !== undefined && { body }) })
        const text = await response.text()
        return [response.status, text === "" ? null : JSON.parse(text)] as const
      }
      const place = (id: string, ticket: object, session = "amira", customer = "Ada") =>
        send("POST", "/orders", JSON.stringify({ id, customer, ticket }), { cookie: `session=${session}` })
      const tickets = async (): Promise<ReadonlyArray<{ readonly id: string; readonly service: string }>> =>
        (await send("GET", "/workshop/v1/tickets"))[1].data
      const query = async (sql: string) => {
        const pool = new pg.Pool({ connectionString: url })
        await pool.query(sql).finally(() => pool.end())
      }
      const refusal = (status: number, code: string, details?: object) => [
        status,
        { success: false, error: { code, message: expect.any(String), ...(details && { details }) } }
      ]
      const issues = (...fields: ReadonlyArray<readonly [field: string, message: string]>) => ({
        issues: fields.map(([field, message]) => ({ in: "body", field, message }))
      })

      const idMessage = "must be 1 to 64 letters without accents, digits, - or _"
      expect(await place("A1", { service: "Hem" }, "nobody")).toEqual(refusal(401, "UNAUTHENTICATED"))
      expect(await place("x".repeat(81), { service: "" }, "amira", "")).toEqual(
        refusal(
          400,
          "VALIDATION_ERROR",
          issues(
            ["id", idMessage],
            ["customer", "must be a non empty string"],
            ["ticket.service", "must be 1 to 120 characters"]
          )
        )
      )
      const noJson = issues(["body", "must be valid JSON in UTF-8"])
      expect(await send("POST", "/orders", "{")).toEqual(refusal(400, "VALIDATION_ERROR", noJson))
      expect(await send("POST", "/orders", '{"id":"A1","customer":"Ada","ticket":{"service":"Hem"},"tip":1}')).toEqual(
        refusal(400, "VALIDATION_ERROR", issues(["tip", "is unknown; correct its name or remove it"]))
      )
      const form = { "content-type": "application/x-www-form-urlencoded" }
      expect(await send("POST", "/orders", "id=A1", form)).toEqual(
        refusal(400, "VALIDATION_ERROR", {
          issues: [{ in: "header", field: "Content-Type", message: "must be application/json" }]
        })
      )
      const large = issues(["body", "must be at most 65536 bytes"])
      expect(await place("A1", { service: "x".repeat(70_000) })).toEqual(refusal(400, "VALIDATION_ERROR", large))
      for (const path of ["/elsewhere", "/workshop/nope", "/orders/%E0"])
        expect(await send("GET", path)).toEqual(refusal(404, "NOT_FOUND"))
      const idIssue = { in: "path", field: "id", message: idMessage }
      for (const id of ["17", "x".repeat(101)])
        expect(await send("GET", `/workshop/v1/tickets/${id}`)).toEqual(
          refusal(400, "VALIDATION_ERROR", { issues: [{ ...idIssue, message: expect.any(String) }] })
        )
      for (const id of ["x".repeat(101), "x".repeat(65)])
        expect(await send("GET", `/orders/${id}`)).toEqual(refusal(400, "VALIDATION_ERROR", { issues: [idIssue] }))
      expect(await send("GET", "/orders/A1")).toEqual(refusal(404, "NOT_FOUND"))
      expect(await place("A1", { service: "merde" })).toEqual(refusal(422, "PROFANITY", { field: "service" }))

      // A key that the same caller sends to the API is not the order's key.
      const sameKey = { "idempotency-key": "A1" }
      const [created] = await send("POST", "/workshop/v1/tickets", '{"service":"Press"}', sameKey)
      expect([created, await place("A1", { service: "Hem" })]).toEqual([201, [201, { id: "A1", number: "0002" }]])
      expect(await place("A1", { service: "Hem" })).toEqual([201, { id: "A1", number: "0002" }])
      const taken = refusal(409, "CONFLICT", { reason: "ORDER_EXISTS" })
      expect(await place("A1", { service: "Zip" })).toEqual(taken)
      expect(await place("A1", { service: "Hem" }, "amira", "Grace")).toEqual(taken)
      expect(await place("A1", { service: "Hem" }, "zoe")).toEqual(taken)
      await query("alter table orders add check (id <> 'A2')")
      expect([(await place("A2", { service: "Zip" }))[0], errors]).toEqual([500, ["A request failed"]])
      expect((await tickets()).map(({ service }) => service)).toEqual(["Hem", "Press"])

      expect(
        await send("POST", `/workshop/v1/tickets/${(await tickets())[0]!.id}/status`, '{"status":"ready"}')
      ).toMatchObject([200, { success: true }])
      const state = async () => (await send("GET", "/orders/A1"))[1].state
      expect(await untilAsync("the event that the ticket is ready", state, (seen) => seen === "ready")).toBe("ready")
      const forged = { "service-signature": await sign("{}", "whsec_wrong") }
      expect(await send("POST", "/hook", "{}", forged)).toEqual([400, null])
      expect(await send("POST", "/hook", "x".repeat(70_000), forged)).toEqual([400, null])

      const row = '{"external_ref":"B-1","service":"Coat"}\n'
      expect(await send("POST", "/orders/import", row)).toEqual(refusal(415, "VALIDATION_ERROR"))
      const ndjson = { "content-type": "application/x-ndjson" }
      expect(await send("POST", "/orders/import", row, ndjson)).toMatchObject([200, { rows: 1, tickets: 1 }])
      expect(await send("GET", "/readyz")).toEqual([200, { ready: true }])
    }))

  it("the app does not start if the webhook's URL is not allowed, and names the field", async () => {
    const refused = sendTo("01980000-0000-7000-8000-000000000001" as ShopId, "ftp://shop.example").pipe(
      Effect.flip,
      Effect.provide(workshop)
    )
    expect(await Effect.runPromise(refused)).toMatchObject({ _tag: "InvalidInput", issues: [{ field: "url" }] })
  })

  it("the code of the app is what the guide shows (docs/embed-effect.md)", () => {
    const page = readFileSync(new URL("../../docs/embed-effect.md", import.meta.url), "utf8")
    for (const name of ["Api", "Shop", "Orders", "Hook", "Upload", "HealthApi", "Server"]) {
      const [, shown] = new RegExp(`^\`\`\`ts\n// src/${name}\\.ts\n([\\s\\S]*?)^\`\`\``, "m").exec(page) ?? []
      expect(shown).toBe(readFileSync(new URL(`${name}.ts`, import.meta.url), "utf8"))
    }
  })
})

it("under Effect's TestClock, the same layer closes tickets that nobody collects: 61 days take an instant", () =>
  Effect.gen(function* () {
    const { counter } = yield* openShop
    const { data } = yield* Tickets.create(counter, Schema.decodeSync(TicketInput)({ service: "Hem" }))
    const id = Schema.decodeSync(TicketId)(data.id)
    yield* Tickets.changeStatus(counter, id, "ready")
    yield* TestClock.adjust("61 days")
    expect((yield* Tickets.byId(counter, id)).state).toBe("abandoned")
  }).pipe(Effect.provide(workshop), Effect.provide(TestContext.TestContext), Effect.runPromise))
