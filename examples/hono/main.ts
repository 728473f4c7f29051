import { serve } from "@hono/node-server"
import * as Workshop from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { createApp } from "./app.js"

const workshop = await Workshop.start({
  store: MemoryStore.layer,
  // The work begins once the server listens, because a receiver of webhooks in this program would refuse earlier
  // deliveries.
  background: false
})
const shop = await workshop.shops.create({
  name: "Atelier Lac",
  currency: "EUR",
  decimals: 2,
  time_zone: "Europe/Paris"
})
if (!shop.ok) throw shop.refusal
const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
if (!key.ok) throw key.refusal

const server = serve({ fetch: createApp(workshop).fetch, hostname: "127.0.0.1", port: 4022 }, () => {
  console.log(`Listening on http://127.0.0.1:4022. Try:
curl -s http://127.0.0.1:4022/workshop/v1/shop -H 'Authorization: Bearer ${key.value.key}'`)
  void workshop.background.start()
})
process.once("SIGINT", async () => {
  await workshop.background.stop()
  server.close(() => workshop.stop())
})
