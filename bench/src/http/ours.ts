// Our service as it is served, on the memory store. Started by the benchmark as a process of its own.

import { Entropy, KeyInput, Profanity, ShopInput, Shops, TicketInput, Tickets, Workshop } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { Store } from "@workshop/core/store"
import { serve } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema } from "effect"
import { createKey } from "../../../packages/core/dist/decisions/shopSettings.js"
import { announce, KEYS_PER_SHOP, key, SCOPES, SHOP, SHOPS, ticketBody } from "./World.js"

const services = Workshop.layer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)

const shopInput = Schema.decodeSync(ShopInput)(SHOP)
const keyInput = Schema.decodeSync(KeyInput)({ name: "bench", scopes: SCOPES })
const ticketInput = Schema.decodeSync(Schema.parseJson(TicketInput))(ticketBody(0))

/** Opens a shop with its keys and one ticket, and returns the ticket's id. */
const openShop = Effect.fnUntraced(function* (n: number) {
  const store = yield* Store
  const { id: shop_id } = yield* (yield* Shops).create(shopInput)
  const keys = Array.from({ length: KEYS_PER_SHOP }, (_, i) => createKey(shop_id, keyInput, key(n + i * SHOPS)))
  const made = yield* Effect.forEach(keys, (command) => store.transact(command))
  const caller = { shop_id, caller_id: made[0]!.answer.id, scopes: SCOPES, via: "api" } as const
  return (yield* (yield* Tickets).create(caller, ticketInput)).data.id
})

const main = Effect.gen(function* () {
  const tickets = yield* Effect.forEach(
    Array.from({ length: SHOPS }, (_, n) => n),
    openShop
  )
  const branch = yield* workshopRoutes({ validateResponses: false })
  const at = yield* serve(yield* pipeline([branch]), { host: "127.0.0.1", port: 0, trustProxy: false })
  announce({ port: at.port, tickets })
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(services)))
