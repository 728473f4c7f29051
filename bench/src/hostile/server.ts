// The service as `workshop serve` runs it, on the memory store, with its pages. It reports its memory.

import { Probes } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { makeHttpMetrics, pages, serve } from "@workshop/http-node"
import { Effect, Layer } from "effect"
import { boundHeapGrowth } from "../../../packages/cli/dist/serve/heapGrowth.js"
import { answerParent } from "../deliver/Child.js"
import { memoryService, openShop } from "../http/MemoryService.js"
import type { ServerReady, ServerState } from "./Attack.js"
import { SHOPS } from "./Attack.js"

const services = Layer.provideMerge(memoryService(), Probes.layer)

const main = Effect.gen(function* () {
  boundHeapGrowth()
  for (let n = 0; n < SHOPS; n++) yield* openShop(n, SHOPS)
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
  answerParent(ready, async (): Promise<ServerState> => ({ rss: process.memoryUsage.rss(), most_rss }))
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(services)))
