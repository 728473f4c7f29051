import { type Context, Effect, Layer, Logger } from "effect"
import type { Entropy } from "../../src/ports/Entropy.js"
import type { StorePorts } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { errorResult, statusResult } from "../../src/testing/TestDispatcher.js"
import { openShopWithWebhook, raise } from "./DispatcherFixture.js"
import { ScriptedSender } from "./ScriptedSender.js"

/**
 * Runs five phases: a receiver works, fails, recovers, fails in another way and recovers. In each, two dispatchers run
 * twice.
 */
export const healthStory = (store: Context.Context<StorePorts | Entropy>) =>
  Effect.gen(function* () {
    const sender = new ScriptedSender()
    const lines: Array<readonly [string, string]> = []
    const log = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => void lines.push([logLevel.label, String(message)]))
    )
    const dispatcher = Dispatcher.layer({ isJittered: false }).pipe(Layer.provide(sender.layer))
    const runOnce = Effect.flatMap(Dispatcher, (one) => one.runOnce).pipe(Effect.provide(Layer.fresh(dispatcher)))
    const shop = yield* openShopWithWebhook
    const phase = (sent: typeof sender.script) =>
      Effect.gen(function* () {
        sender.script = sent
        for (let restart = 0; restart < 2; restart++) {
          yield* raise(shop, null, null, null)
          yield* Effect.provide(Effect.all([runOnce, runOnce], { concurrency: "unbounded" }), log)
        }
        return lines.splice(0)
      })
    const arrives = () => Effect.succeed(statusResult(200))
    return {
      shop,
      healthy: yield* phase(arrives),
      failing: yield* phase(() => Effect.succeed(statusResult(503))),
      recovered: yield* phase(arrives),
      failingAgain: yield* phase(() => Effect.succeed(errorResult("timeout"))),
      recoveredAgain: yield* phase(arrives),
      attempts: sender.arrived.length
    }
  }).pipe(Effect.provide(store))

/** The lines that each phase of `healthStory` must log. */
export const healthLines = (shop: string) => {
  const look = `To see the attempts, call deliveries.list, or run workshop webhook deliveries ${shop}`
  const recovered = [
    [
      "INFO",
      "Deliveries to shop.example succeed again. Events whose delivery failed are sent again at their scheduled times, so they may arrive after later events"
    ]
  ]
  const timeout = "no response arrived within the time limit, which includes the DNS look-up"
  return {
    shop,
    healthy: [],
    failing: [["WARN", `Deliveries to shop.example began to fail: the receiver responded 503. ${look}`]],
    recovered,
    failingAgain: [["WARN", `Deliveries to shop.example began to fail: ${timeout}. ${look}`]],
    recoveredAgain: recovered,
    attempts: 30
  }
}
