// The service as `workshop serve` serves it, on the memory store, with its pages. It says how much memory it takes.

import { Entropy, KeyInput, Probes, Profanity, ShopInput, Shops, Workshop } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { Store } from "@workshop/core/store"
import { makeHttpMetrics, pages, serve } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema } from "effect"
import { boundHeapGrowth } from "../../../packages/cli/dist/heapGrowth.js"
import { createKey } from "../../../packages/core/dist/decisions/shopSettings.js"
import { answering } from "../deliver/Child.js"
import { key, SCOPES, SHOP } from "../http/World.js"
import type { ServerReady, ServerState } from "./Attack.js"
import { KEYS_PER_SHOP, SHOPS } from "./Attack.js"

const services = Workshop.layer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer),
  Layer.provideMerge(Probes.layer)
)

const openShop = Effect.fnUntraced(function* (n: number) {
  const store = yield* Store
  const { id } = yield* (yield* Shops).create(Schema.decodeSync(ShopInput)(SHOP))
  const input = Schema.decodeSync(KeyInput)({ name: "bench", scopes: SCOPES })
  for (let i = 0; i < KEYS_PER_SHOP; i++) yield* store.transact(createKey(id, input, key(n + i * SHOPS)))
})

const main = Effect.gen(function* () {
  boundHeapGrowth()
  for (let n = 0; n < SHOPS; n++) yield* openShop(n)
  const branches = [yield* workshopRoutes({ validateResponses: false }), ...(yield* pages())]
  const at = yield* serve(yield* pipeline(branches, makeHttpMetrics()), {
    host: "127.0.0.1",
    port: 0,
    trustProxy: false
  })
  let most_rss = 0
  setInterval(() => {
    most_rss = Math.max(most_rss, process.memoryUsage.rss())
  }, 100)
  const ready: ServerReady = { port: at.port }
  answering(ready, async (): Promise<ServerState> => ({ rss: process.memoryUsage.rss(), most_rss }))
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(services)))
