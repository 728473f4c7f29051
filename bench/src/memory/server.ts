// Our server with a high limit of connections, in its own process. It first sends its port, and replies to each message
// with its memory.

import { pipeline, workshopRoutes } from "@workshop/core/http"
import { serve } from "@workshop/http-node"
import { Effect } from "effect"
import { answerParent } from "../deliver/Child.js"
import { memoryService } from "../http/MemoryService.js"
import { neededBytes } from "./heap.js"

const ROOM = 20_000

const main = Effect.gen(function* () {
  const branch = yield* workshopRoutes({ validateResponses: false })
  const limits = { maxConnections: ROOM, maxConnectionsPerAddress: ROOM }
  const { port } = yield* serve(yield* pipeline([branch]), { host: "127.0.0.1", port: 0, trustProxy: false, limits })
  answerParent<object>({ port }, async () => ({ bytes: neededBytes(), resident: process.memoryUsage().rss }))
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(memoryService())))
