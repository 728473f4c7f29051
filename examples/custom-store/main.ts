import * as Workshop from "@workshop/core/promise"
import * as JournalStore from "./JournalStore.js"

const path = process.env.WORKSHOP_JOURNAL ?? "workshop.journal"
const workshop = await Workshop.start({ store: JournalStore.layer(path) })
const shop = await workshop.shops.create({
  name: "Atelier Lac",
  currency: "EUR",
  decimals: 2,
  time_zone: "Europe/Paris"
})
if (!shop.ok) throw shop.refusal
const caller = {
  shop_id: shop.value.id,
  caller_id: "0198c5f1-0d20-7000-8a4f-2be6c90d1357",
  scopes: [],
  via: "app"
} as const
const made = await workshop.tickets.createInApp(caller, { service: "Hem" })
if (made.ok) console.log(`Ticket ${made.value.data.number_label} is in ${path}, and will be there next time.`)
await workshop.stop()
