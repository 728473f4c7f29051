import { Effect, Fiber } from "effect"
import { describe, it } from "vitest"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { openShopWithWebhook, raise, until, withDispatcher } from "./DispatcherFixture.js"

describe("Specification, Webhooks: dead receivers must not slow other shops", () => {
  it(
    "a hundred shops whose receivers hang do not delay a shop whose receiver responds",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        const hanging = yield* Effect.replicateEffect(openShopWithWebhook, 100)
        for (const shop of hanging) yield* raise(shop, ...Array(9).fill(null))
        sender.script = ({ shop_id }) => (hanging.includes(shop_id) ? Effect.never : Effect.succeed(statusResult(200)))
        const background = yield* Effect.fork((yield* Dispatcher).run)
        yield* until("they hang", () => sender.flying >= 256)
        clock.advance(1000)
        const well = yield* openShopWithWebhook
        yield* raise(well, null, null, null, null, null)
        const came = () => sender.arrived.filter(({ shop_id }) => shop_id === well).length
        yield* until("the healthy shop has everything", () => came() === 5)
        clock.endGrace()
        yield* Fiber.interrupt(background)
      })
    )
  )
})
