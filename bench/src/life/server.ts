// Our service on Postgres as `workshop serve` runs it, in its own process. Its dispatcher starts to deliver on request.

import { Dispatcher, Entropy, Profanity, sandboxAddresses, Workshop } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { serve } from "@workshop/http-node"
import * as NodeSender from "@workshop/http-node/sender"
import { PgStore } from "@workshop/store-pg"
import { Effect, Fiber, Layer } from "effect"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { runCommand } from "../../../packages/core/dist/testing/Fixtures.js"
import { answerParent } from "../deliver/Child.js"
import { openShop } from "../http/MemoryService.js"
import { type LifeQuestion, SHOPS } from "./Life.js"

const [url = "", receiver] = process.argv.slice(2)

const services = Layer.mergeAll(
  Workshop.layer,
  Dispatcher.layer().pipe(Layer.provide(NodeSender.layer({ policy: sandboxAddresses })))
).pipe(
  Layer.provideMerge(PgStore.layer({ url })),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)

/** Opens a shop with its keys and its webhook. */
const openHookedShop = Effect.fnUntraced(function* (n: number) {
  const { shop_id } = yield* openShop(n, SHOPS)
  yield* runCommand(setWebhook(shop_id, { url: `http://127.0.0.1:${receiver}/ok`, secret: "whsec_1" }))
})

const main = Effect.gen(function* () {
  yield* Effect.forEach(
    Array.from({ length: SHOPS }, (_, n) => n),
    openHookedShop,
    { concurrency: 16, discard: true }
  )
  const branch = yield* workshopRoutes({ validateResponses: false })
  const at = yield* serve(yield* pipeline([branch]), { host: "127.0.0.1", port: 0, trustProxy: false })
  const dispatcher = yield* Dispatcher
  const context = yield* Effect.context<never>()
  const until = Effect.gen(function* () {
    while ((yield* Effect.clockWith((clock) => Effect.flatMap(clock.currentTimeMillis, dispatcher.next))) !== null)
      yield* Effect.sleep("20 millis")
  })
  const dispatching = Effect.provide(dispatcher.run, context)
  let fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  answerParent<LifeQuestion>({ port: at.port }, async ({ asked }) => {
    if (asked === "deliver") fiber ??= Effect.runFork(dispatching)
    if (asked === "delivered") await Effect.runPromise(Effect.provide(until, context))
    if (asked === "stop" && fiber !== undefined) {
      await Effect.runPromise(Fiber.interrupt(fiber))
      fiber = undefined
    }
    return process.cpuUsage()
  })
  yield* Effect.never
})

Effect.runFork(main.pipe(Effect.scoped, Effect.provide(services)))
