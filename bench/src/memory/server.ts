// Our server with room for many connections, in a process of its own. Its first message is its port; it answers each message with its size.

import { Entropy, Profanity, Workshop } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { serve } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer } from "effect"
import { answering } from "../deliver/Child.js"
import { neededBytes } from "./heap.js"

const ROOM = 20_000

const services = Workshop.layer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)

const main = Effect.gen(function* () {
  const branch = yield* workshopRoutes({ validateResponses: false })
  const limits = { maxConnections: ROOM, maxConnectionsPerAddress: ROOM }
  const { port } = yield* serve(yield* pipeline([branch]), { host: "127.0.0.1", port: 0, trustProxy: false, limits })
  answering<object>({ port }, async () => ({ bytes: neededBytes(), resident: process.memoryUsage().rss }))
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(services)))
