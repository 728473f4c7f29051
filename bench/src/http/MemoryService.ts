import { Entropy, KeyInput, Profanity, ShopInput, Shops, Workshop } from "@workshop/core"
import { Store } from "@workshop/core/store"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema } from "effect"
import { createKey } from "../../../packages/core/dist/decisions/shopSettings.js"
import { KEYS_PER_SHOP, key, SCOPES, SHOP } from "./Workload.js"

/** The services on the memory store, by default with the randomness of the real service. */
export const memoryService = (entropy: typeof Entropy.layer = Entropy.layer) =>
  Workshop.layer.pipe(
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(entropy)
  )

const shopInput = Schema.decodeSync(ShopInput)(SHOP)
const keyInput = Schema.decodeSync(KeyInput)({ name: "bench", scopes: SCOPES })

/** Opens the `n`th of `shops` shops with its keys, and returns the caller with its first key. */
export const openShop = Effect.fnUntraced(function* (n: number, shops: number) {
  const store = yield* Store
  const { id: shop_id } = yield* (yield* Shops).create(shopInput)
  const keys = Array.from({ length: KEYS_PER_SHOP }, (_, i) => createKey(shop_id, keyInput, key(n + i * shops)))
  const made = yield* Effect.forEach(keys, (command) => store.transact(command))
  return { shop_id, caller_id: made[0]!.result.id, scopes: SCOPES, via: "api" } as const
})
