import * as MemoryStore from "@workshop/store-memory"
import { mountFetch } from "../../src/http/FetchMount.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { start } from "../../src/services/promise/PromiseWorkshop.js"
import type { SettableClock } from "../../src/testing/SettableClock.js"

/** Starts a workshop with one shop and its key. Its `fetch` needs no socket. */
export const startTestWorkshop = async (options: { readonly seed: number; readonly clock?: SettableClock }) => {
  const workshop = await start({
    store: MemoryStore.layer,
    randomBytes: Entropy.seededBytes(options.seed),
    background: false,
    ...(options.clock === undefined ? {} : { clock: options.clock })
  })
  const shop = await workshop.shops.create({
    name: "Needle",
    currency: "TND",
    decimals: 3,
    time_zone: "Africa/Tunis"
  })
  if (!shop.ok) throw new Error("refused")
  const key = await workshop.keys.create(shop.value.id, {
    name: "till",
    scopes: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
  })
  if (!key.ok) throw new Error("refused")
  return { workshop, shop_id: shop.value.id, key: key.value.key, fetch: mountFetch(workshop) }
}
