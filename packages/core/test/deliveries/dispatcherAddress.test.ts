import { Deferred, Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../src/decisions/webhookSettings.js"
import type { ShopId } from "../../src/domain/Identifier.js"
import type { SendResult } from "../../src/domain/Webhook.js"
import { Reads } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { runCommand } from "../../src/testing/Fixtures.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { MINUTE } from "../decisions/fixtures.js"
import { logOf, openShopWithWebhook, raise, until, withDispatcher } from "./DispatcherFixture.js"

const webhookOf = (shop_id: ShopId) =>
  Effect.flatMap(Reads, (reads) => Effect.map(reads.shop(shop_id), (state) => state?.webhook))

describe("Specification, Webhooks: a 410 turns off the webhook whose URL returned it", () => {
  it(
    "a 410 from the webhook's own URL turns it off at once (Specification, Webhooks)",
    withDispatcher(({ sender }) =>
      Effect.gen(function* () {
        const shop = yield* openShopWithWebhook
        sender.script = () => Effect.succeed(statusResult(410))
        yield* raise(shop, null)
        yield* (yield* Dispatcher).runOnce
        expect(yield* webhookOf(shop)).toMatchObject({ off_reason: "gone", failures_in_row: 1 })
      })
    )
  )

  it(
    "a 410 from a URL that was replaced during the attempt does not turn off the webhook, and the new URL gets the event next (Specification, Webhooks)",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        const { runOnce } = yield* Dispatcher
        const shop = yield* openShopWithWebhook
        const url = "https://new.example/hook"
        const response = yield* Deferred.make<SendResult>()
        sender.script = (post) => (post.url === url ? Effect.succeed(statusResult(200)) : Deferred.await(response))
        yield* raise(shop, null)
        const turn = yield* Effect.fork(runOnce)
        yield* until("it is on its way", () => sender.flying === 1)
        yield* runCommand(setWebhook(shop, { url, secret: "whsec_2" }))
        yield* Deferred.succeed(response, statusResult(410))
        yield* Fiber.join(turn)
        expect(yield* webhookOf(shop)).toMatchObject({ url, off_reason: null, failures_in_row: 0 })
        clock.advance(MINUTE)
        yield* runOnce
        const [log] = yield* logOf(shop)
        expect([log?.state, log?.attempts.map(({ status }) => status)]).toEqual(["delivered", [410, 200]])
      })
    )
  )
})
