import { createClient } from "@workshop/client"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { createApp } from "./app.js"

it("a Hono app serves the API through fetch alone, without a socket", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw key.refusal
  const app = createApp(workshop)

  const client = createClient({
    baseUrl: "http://shop.example/workshop",
    key: key.value.key,
    fetch: async (request) => app.fetch(request)
  })
  expect(await client.tickets.create({ service: "Hem" })).toMatchObject({ ok: true, value: { number: 1 } })
  expect(await client.tickets.byNumber(1)).toMatchObject({ ok: true, meta: { others: [] } })
  expect(await (await app.request("/")).text()).toBe("A shop's own page\n")
  await workshop.stop()
})
