import { createClient } from "@workshop/core/client/Client"
import { mountFetch } from "@workshop/core/http/Mount"
import * as Workshop from "@workshop/core/services/PromiseWorkshop"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { expect, it } from "vitest"
import { blankDisk, sync, take } from "./Till.js"

it("a till sells while the line is down, and syncs without a gap or a second ticket (contract §1, §3)", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.shops.create({ name: "Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  if (!shop.ok) throw shop.refusal
  const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
  if (!key.ok) throw key.refusal
  const line: { state: "up" | "down" | "answers get lost" } = { state: "down" }
  const serve = mountFetch(workshop)
  const client = createClient({
    baseUrl: "http://shop.example",
    key: key.value.key,
    wait: async () => undefined,
    fetch: async (request) => {
      if (line.state === "down") throw new TypeError("fetch failed")
      const answer = await serve(request)
      if (line.state === "answers get lost" && request.method === "POST") throw new TypeError("socket hang up")
      return answer
    }
  })

  const disk = blankDisk()
  take(disk, { service: "Hem", price_minor: 1200 })
  take(disk, { service: "", price_minor: 500 })
  expect(await sync(client, disk)).toMatchObject({ problem: expect.stringContaining("No answer from") })
  expect(disk.outbox.size).toBe(2)

  line.state = "answers get lost"
  await sync(client, disk)
  line.state = "up"
  const { refused } = await sync(client, disk)
  expect(refused).toHaveLength(1)
  expect(disk.outbox.size).toBe(0)
  expect([...disk.tickets.values()].map(({ service, number }) => `${number} ${service}`)).toEqual(["1 Hem"])

  const [ticket] = disk.tickets.values()
  await client.tickets.changeStatus(ticket!.id, "ready")
  expect(await sync(client, disk)).toMatchObject({ problem: null })
  expect(disk.tickets.get(ticket!.id)?.state).toBe("ready")
  await workshop.stop()
})
