import { mountFetch } from "@workshop/core/http"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"
import { createApi, walk } from "./walk.js"

it("a client generated from openapi.json by a public generator creates a ticket and makes it ready", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw key.refusal
  const serve = mountFetch(workshop)
  const api = createApi("http://shop.example", key.value.key, (input, init) => serve(new Request(input, init)))
  expect(await walk(api)).toEqual(["Lac: ticket 0001 is ready", "1 to be picked up"])
  // The client throws a response that is not a success.
  await expect(api.v1.getTicketByNumber(2)).rejects.toMatchObject({
    status: 404,
    error: { error: { code: "NOT_FOUND" } }
  })
  await workshop.stop()
})
