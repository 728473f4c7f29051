import { KeyInput } from "@workshop/core/decisions/ownShop"
import { scopePresets } from "@workshop/core/domain/Scope"
import { Directory } from "@workshop/core/ports/Directory"
import type { Caller } from "@workshop/core/services/Caller"
import { Keys } from "@workshop/core/services/Keys"
import { ShopInput, Shops } from "@workshop/core/services/Shops"
import { Effect, Schema } from "effect"

/** The shop that a newcomer finds, on whose behalf the app would speak, and its key's text. */
export interface FirstShop {
  readonly app: Caller
  readonly key: string
}

/** Whether the store has a shop already: then its keys were shown when they were made. */
export const hasShops = Effect.gen(function* () {
  const { listShops } = yield* Directory
  return (yield* listShops(null, 1)).length > 0
})

/** Opens a shop with a full-access key: an empty store would have nothing to try. */
export const openFirstShop = Effect.gen(function* () {
  const shops = yield* Shops
  const keys = yield* Keys
  const shop = yield* shops.create(
    Schema.decodeSync(ShopInput)({ name: "My workshop", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  )
  const input = Schema.decodeSync(KeyInput)({ name: "first", scopes: scopePresets.full })
  const { record, key } = yield* keys.create(shop.id, input)
  return { app: { shop_id: shop.id, caller_id: record.id, scopes: record.scopes, via: "app" }, key } satisfies FirstShop
})

/** What to say where the shops are there already. */
export const stillThere: ReadonlyArray<string> = [
  "The shops of last time are there. Keys are shown once: workshop key create makes another, for a shop that workshop shop list names."
]

/** What to try next, as lines to paste into a shell. */
export const nextSteps = (base: string, { key }: FirstShop): ReadonlyArray<string> => {
  const authorized = `-H 'Authorization: Bearer ${key}'`
  const ticket = JSON.stringify({
    service: "Resoling",
    item: "Brown boots",
    price_minor: 45_000,
    deposit_minor: 20_000
  })
  return [
    "The shop My workshop is open. Its key is shown this once:",
    `export WORKSHOP_KEY=${key}`,
    "Create a ticket, then list what there is:",
    `curl -s ${base}/v1/tickets ${authorized} -H 'Idempotency-Key: first-ticket' -H 'Content-Type: application/json' -d '${ticket}'`,
    `curl -s '${base}/v1/tickets?limit=10' ${authorized}`
  ]
}
