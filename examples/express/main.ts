import * as Workshop from "@workshop/core/promise"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { createApp } from "./app.js"

const workshop = await Workshop.start({
  store: MemoryStore.layer,
  sender: NodeSender.layer(),
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

const amira = {
  shop_id: shop.value.id,
  caller_id: "0198c5f1-0d20-7000-8a4f-2be6c90d1357",
  scopes: ["tickets:read", "tickets:write"]
} as const
const port = Number(process.env.PORT ?? 4025)
const server = createApp(workshop, new Map([["amira", amira]])).listen(port, "127.0.0.1", () => {
  console.log(`Listening on http://127.0.0.1:${port}. Create a ticket as Amira, then look at it:
curl -s http://127.0.0.1:${port}/workshop/v1/tickets -H 'Cookie: session=amira' -H 'Idempotency-Key: 1' -H 'Content-Type: application/json' -d '{"service":"Hem"}'
curl -s http://127.0.0.1:${port}/counter/1 -H 'Cookie: session=amira'`)
  void workshop.background.start()
})

process.once("SIGINT", async () => {
  await workshop.background.stop()
  server.closeAllConnections()
  server.close(() => workshop.stop())
})
