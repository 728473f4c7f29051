import { NodeRuntime } from "@effect/platform-node"
import { pipeline } from "@workshop/core/http/Pipeline"
import { workshopBranch } from "@workshop/core/http/workshopBranch"
import { Entropy } from "@workshop/core/ports/Entropy"
import { Keys } from "@workshop/core/services/Keys"
import * as Profanity from "@workshop/core/services/Profanity"
import { Shops } from "@workshop/core/services/Shops"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { serve } from "@workshop/http-node/NodeServer"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Effect, Layer } from "effect"

const services = workshopLayer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)
const main = Effect.gen(function* () {
  const shops = yield* Shops
  const keys = yield* Keys
  const shop = yield* shops.create({ name: "Demo", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" } as never)
  const key = yield* keys.create(shop.id, {
    name: "demo",
    scopes: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
  } as never)
  const at = yield* serve(yield* pipeline([yield* workshopBranch({ isHeld: true })]), {
    host: "127.0.0.1",
    port: 4010,
    trustProxy: false
  })
  yield* Effect.log(`Listening on http://127.0.0.1:${at.port} ${key.key}`)
  yield* Effect.never
})
main.pipe(Effect.scoped, Effect.provide(services), NodeRuntime.runMain)
