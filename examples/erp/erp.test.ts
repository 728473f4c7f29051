import { createClient } from "@workshop/client"
import { mountFetch } from "@workshop/core/http"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { importOrder, waiting } from "./orders.js"

it("an ERP imports each order once, and reports by the type of an error whether the order is refused or must be retried", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const key = await workshop.keys.create(shop.value.id, { name: "erp", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw key.refusal
  const fetch = mountFetch(workshop)
  const client = createClient({ baseUrl: "http://shop.example/v1", key: key.value.key, fetch })

  const order = { reference: "SO-1", work: "Curtains", price_minor: 40_000, phone: "+216 20 123 456" }
  expect(await importOrder(client, order)).toEqual({ reference: "SO-1", outcome: "opened", number: 1 })
  expect(await importOrder(client, order)).toEqual({ reference: "SO-1", outcome: "known", number: 1 })
  expect(await importOrder(client, { ...order, work: "Cushions" })).toMatchObject({
    outcome: "refused",
    why: "the order was changed after its import"
  })
  expect(await importOrder(client, { reference: "SO-2", work: "Banner", price_minor: 1.5 })).toEqual({
    reference: "SO-2",
    outcome: "refused",
    why: "price_minor must be a whole number"
  })
  const stranger = createClient({ baseUrl: "http://shop.example/v1", key: "wk_live_no", fetch })
  await expect(importOrder(stranger, order)).rejects.toThrow("UNAUTHENTICATED")

  const list = await client.tickets.list({ external_ref: "SO-1" })
  if (!list.ok) throw new Error(list.error.message)
  await client.tickets.changeStatus(list.value[0]!.id, "ready")
  expect(await waiting(client)).toEqual(["SO-1"])

  // The shop's owner creates a new API key, for which the idempotency keys of the old one do not count.
  const next = await workshop.keys.create(shop.value.id, { name: "erp 2", scopes: ["tickets:read", "tickets:write"] })
  if (!next.ok) throw next.refusal
  const rotated = createClient({ baseUrl: "http://shop.example/v1", key: next.value.key, fetch })
  expect(await importOrder(rotated, order)).toEqual({ reference: "SO-1", outcome: "known", number: 1 })
  const all = await rotated.tickets.list({ external_ref: "SO-1" })
  expect(all.ok && all.value.length).toBe(1)
  await workshop.stop()
})
