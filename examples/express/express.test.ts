import type { AddressInfo } from "node:net"
import { createClient } from "@workshop/client"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { createApp } from "./app.js"

it("an Express server has the API under a path, together with its own routes and sessions", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const amira = {
    shop_id: shop.value.id,
    caller_id: "0198c5f1-0d20-7000-8a4f-2be6c90d1357",
    scopes: ["tickets:read", "tickets:write"]
  } as const
  const server = createApp(workshop, new Map([["amira", amira]])).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cookie = "session=amira"

  expect((await fetch(`${base}/screen`)).status).toBe(401)
  const screen = await fetch(`${base}/screen`, { headers: { cookie } })
  // This screen must not show an event of another shop.
  const other = await workshop.shops.create({ name: "Rue", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!other.ok) throw other.refusal
  await workshop.webhooks.ping(other.value.id)
  const created = await fetch(`${base}/workshop/v1/tickets`, {
    method: "POST",
    headers: { cookie, "idempotency-key": "one", "content-type": "application/json" },
    body: '{"service":"Hem"}'
  })
  expect(created.status).toBe(201)
  const chunk = await screen.body!.getReader().read()
  expect(new TextDecoder().decode(chunk.value)).toMatch(/^id: .*\ndata: ticket\.created\n\n$/)
  const counter = await fetch(`${base}/counter/1`, { headers: { cookie } })
  expect(await counter.text()).toBe("Hem: workshop\n")
  expect(counter.headers.get("content-type")).toContain("text/plain")
  expect((await fetch(`${base}/counter/2`, { headers: { cookie } })).status).toBe(404)
  expect((await fetch(`${base}/counter/0`, { headers: { cookie } })).status).toBe(400)
  expect((await fetch(`${base}/counter/1`)).status).toBe(401)
  expect((await fetch(`${base}/workshop/v1/shop`)).status).toBe(401)

  // A till uses its key at the same path.
  const key = await workshop.orThrow.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read"] })
  const till = createClient({ baseUrl: `${base}/workshop`, key: key.key })
  expect(await till.tickets.list()).toMatchObject({ ok: true, value: [{ service: "Hem" }] })
  const stranger = createClient({ baseUrl: `${base}/workshop`, key: "wk_live_no" })
  expect(await stranger.shop.read()).toMatchObject({ ok: false, error: { code: "UNAUTHENTICATED" } })

  server.closeAllConnections()
  server.close()
  await workshop.stop()
})
