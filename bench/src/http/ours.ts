// Our service on the memory store. The benchmark runs it in its own process.

import { TicketInput, Tickets } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { serve } from "@workshop/http-node"
import { Effect, Schema } from "effect"
import { memoryService, openShop } from "./MemoryService.js"
import { announce, SHOPS, ticketBody } from "./Workload.js"

const ticketInput = Schema.decodeSync(Schema.parseJson(TicketInput))(ticketBody(0))

const main = Effect.gen(function* () {
  const tickets = yield* Tickets
  const made = yield* Effect.forEach(
    Array.from({ length: SHOPS }, (_, n) => n),
    (n) => Effect.flatMap(openShop(n, SHOPS), (caller) => tickets.create(caller, ticketInput))
  )
  const branch = yield* workshopRoutes({ validateResponses: false })
  const at = yield* serve(yield* pipeline([branch]), { host: "127.0.0.1", port: 0, trustProxy: false })
  announce({ port: at.port, tickets: made.map(({ data }) => data.id) })
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(memoryService())))
