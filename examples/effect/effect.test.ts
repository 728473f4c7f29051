import { HttpApi, HttpApiBuilder, HttpApp, HttpRouter, HttpServer } from "@effect/platform"
import { createClient } from "@workshop/client"
import { type Imports, probe, TicketId, TicketInput, Tickets } from "@workshop/core"
import type { Directory } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { sign } from "@workshop/webhooks"
import { Effect, Layer, ManagedRuntime, Schema, TestClock, TestContext } from "effect"
import { expect, it } from "vitest"
import { makeApp } from "./app.js"
import { Health, metrics, readyz } from "./healthApi.js"
import { Hooks, received } from "./hook.js"
import { download, upload } from "./transfer.js"
import { openShop, workshop } from "./workshop.js"

it("an Effect server mounts the API in its router, beside a route on the same services", async () => {
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

it("an HttpApi serves its metrics and readiness as a group, a 503 with the reason while the process is not ready", async () => {
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

it("an HttpApi receives webhooks: the raw body's signature is checked by Effect's clock", async () => {
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

it("a shop's tickets are downloaded and uploaded as JSON lines, with the report of each batch", async () => {
  const runtime = ManagedRuntime.make(workshop)
  const reports: Array<number> = []
  const { app, rows } = await runtime.runPromise(
    Effect.gen(function* () {
      const { shop_id } = (yield* openShop).counter
      const router = HttpRouter.empty.pipe(
        HttpRouter.post(
          "/import",
          upload(shop_id, ({ rows }) => reports.push(rows))
        ),
        HttpRouter.get("/export", download(shop_id))
      )
      const rows = [
        { external_ref: "A-1", service: "Hem" },
        { external_ref: "A-2", service: "Zip" }
      ]
      return { app: HttpApp.toWebHandlerRuntime(yield* Effect.runtime<Imports>())(router), rows }
    })
  )
  const body = `${rows.map((row) => JSON.stringify(row)).join("\n")}\nno JSON\n`
  const report = await app(new Request("http://shop.example/import", { method: "POST", body }))
  expect(await report.json()).toMatchObject({ tickets: 2, bad: 1, bad_rows: [{ line: 3 }] })
  expect(reports).toEqual([3])
  const exported = (await (await app(new Request("http://shop.example/export"))).text()).trimEnd().split("\n")
  expect(exported.map((line) => JSON.parse(line).external_ref)).toEqual(["A-2", "A-1"])
  await runtime.dispose()
})

it("under Effect's TestClock, the same layer closes what nobody collects: 61 days take an instant", () =>
  Effect.gen(function* () {
    const { counter } = yield* openShop
    const { data } = yield* Tickets.create(counter, Schema.decodeSync(TicketInput)({ service: "Hem" }))
    const id = Schema.decodeSync(TicketId)(data.id)
    yield* Tickets.changeStatus(counter, id, "ready")
    yield* TestClock.adjust("61 days")
    expect((yield* Tickets.byId(counter, id)).state).toBe("abandoned")
  }).pipe(Effect.provide(workshop), Effect.provide(TestContext.TestContext), Effect.runPromise))
