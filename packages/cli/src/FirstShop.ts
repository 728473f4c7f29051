import { KeyInput } from "@workshop/core/decisions/ownShop"
import type { ShopId } from "@workshop/core/domain/Identifier"
import { scopePresets } from "@workshop/core/domain/Scope"
import { Directory } from "@workshop/core/ports/Directory"
import { Actor } from "@workshop/core/services/Actor"
import { Keys } from "@workshop/core/services/Keys"
import { ShopInput, Shops } from "@workshop/core/services/Shops"
import { Effect, Schema } from "effect"

/** Whether the store has a shop already: then its keys were shown when they were made. */
export const hasShops = Effect.gen(function* () {
  const { listShops } = yield* Directory
  return (yield* listShops(null, 1)).length > 0
})

/** Who acts, for the audit log. */
const asServe = Effect.provideService(Actor, "workshop serve")

/** Opens a shop to try things in. It has no key yet. */
export const openShop = (name: string) =>
  asServe(Shops.create(Schema.decodeSync(ShopInput)({ name, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })))

/** Makes a full-access key for a shop; its text is for the caller to print, at once. */
export const makeKey = (shop_id: ShopId, name: string) =>
  asServe(
    Effect.map(Keys.create(shop_id, Schema.decodeSync(KeyInput)({ name, scopes: scopePresets.full })), ({ key }) => key)
  )

/** Opens the shop that a newcomer finds: an empty store would have nothing to try. Returns its key. */
export const openFirstShop = Effect.gen(function* () {
  const { id, name } = yield* openShop("My workshop")
  const key = yield* makeKey(id, "first")
  return { key, opening: `The shop ${name} is open. Its key is shown this once:` }
})

/** What to say where the shops are there already. */
export const stillThere: ReadonlyArray<string> = [
  "The shops of last time are there. Keys are shown once: workshop key create makes another, for a shop that workshop shop list names."
]

/** What to try next, as lines to paste into a shell. */
export const nextSteps = (base: string, opening: string, key: string): ReadonlyArray<string> => {
  const authorized = `-H 'Authorization: Bearer ${key}'`
  const ticket = JSON.stringify({
    service: "Resoling",
    item: "Brown boots",
    price_minor: 45_000,
    deposit_minor: 20_000
  })
  return [
    opening,
    `export WORKSHOP_KEY=${key}`,
    "Create a ticket, then list what there is:",
    `curl -s ${base}/v1/tickets ${authorized} -H 'Idempotency-Key: first-ticket' -H 'Content-Type: application/json' -d '${ticket}'`,
    `curl -s '${base}/v1/tickets?limit=10' ${authorized}`
  ]
}
