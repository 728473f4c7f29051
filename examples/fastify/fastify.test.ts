import type { AddressInfo } from "node:net"
import { createClient } from "@workshop/client"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { createApp } from "./app.js"

it("a Fastify server has the API under a path, including bodies and refusals", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw key.refusal
  const app = createApp(workshop)
  await app.listen({ host: "127.0.0.1", port: 0 })
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

  const client = createClient({ baseUrl: `${base}/workshop`, key: key.value.key })
  expect(await client.tickets.create({ service: "Hem", price_minor: 1200 })).toMatchObject({
    ok: true,
    value: { number: 1, money: { price_minor: 1200, currency: "EUR" } }
  })
  expect(await client.tickets.create({ service: "" })).toMatchObject({
    ok: false,
    error: { code: "VALIDATION_ERROR", details: { issues: [{ in: "body", field: "service" }] } }
  })
  expect(await client.tickets.list()).toMatchObject({ ok: true, value: [{ service: "Hem" }] })
  expect(await (await fetch(`${base}/health`)).json()).toEqual({ ok: true })

  await app.close()
  await workshop.stop()
})

it("a Fastify server's own sessions are read from Fastify's request", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const amira = { shop_id: shop.value.id, caller_id: "amira", scopes: ["tickets:read"] } as const
  const app = createApp(workshop, ({ query }) => ((query as { limit?: string }).limit === "7" ? amira : null))
  await app.listen({ host: "127.0.0.1", port: 0 })
  const tickets = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/workshop/v1/tickets`
  expect((await fetch(`${tickets}?limit=7`)).status).toBe(200)
  expect((await fetch(tickets)).status).toBe(401)
  await app.close()
  await workshop.stop()
})
