import { createClient } from "@workshop/client"
import { importOrder, type Order, waiting } from "./orders.js"

const { WORKSHOP_URL: baseUrl = "http://127.0.0.1:4010", WORKSHOP_KEY: key } = process.env
const orders: ReadonlyArray<Order> = [
  { reference: "SO-1001", work: "Curtains, two panels", price_minor: 40_000, phone: "+216 20 123 456" },
  { reference: "SO-1002", work: "Cushion covers" },
  { reference: "SO-1003", work: "Banner", price_minor: -1 }
]

if (key === undefined) {
  console.error("Set WORKSHOP_KEY to a key of the shop; `npm start` prints one, and serves where this looks for it.")
  process.exitCode = 1
} else {
  const client = createClient({ baseUrl, key })
  try {
    for (const order of orders) console.log(await importOrder(client, order))
    console.log("To be picked up:", await waiting(client))
  } catch (error) {
    console.error(`The import ended here: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
