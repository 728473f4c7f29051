// The service as `workshop serve` serves it, on the memory store, with its pages. It says how much memory it takes.
import { boundHeapGrowth } from "@workshop/cli/heapGrowth"
import { createKey, KeyInput } from "@workshop/core/decisions/shopSettings"
import { pipeline } from "@workshop/core/http/Pipeline"
import { workshopRoutes } from "@workshop/core/http/workshopRoutes"
import { Entropy } from "@workshop/core/ports/Entropy"
import { type Probe, Probes } from "@workshop/core/ports/Probes"
import { Store } from "@workshop/core/ports/Store"
import * as Profanity from "@workshop/core/services/Profanity"
import { ShopInput, Shops } from "@workshop/core/services/Shops"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { makeHttpMetrics } from "@workshop/http-node/metrics/HttpMetrics"
import { serve } from "@workshop/http-node/NodeServer"
import { pages } from "@workshop/http-node/Pages"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Effect, Layer, Schema } from "effect"
import { answering } from "../deliver/Child.js"
import { key, SCOPES, SHOP } from "../http/World.js"
import type { ServerReady, ServerState } from "./Attack.js"
import { KEYS_PER_SHOP, SHOPS } from "./Attack.js"

const services = workshopLayer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer),
  Layer.provideMerge(Layer.sync(Probes, () => new Set<Probe>()))
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
  const branches = [yield* workshopRoutes({ isHeld: false }), ...(yield* pages())]
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
