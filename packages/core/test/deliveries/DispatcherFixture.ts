import { layer as memoryStore } from "@workshop/store-memory"
import { Cause, Deferred, Duration, Effect, Exit, FiberId, Layer, Logger } from "effect"
import { setWebhook } from "../../src/decisions/webhookSettings.js"
import type { EventId, ShopId } from "../../src/domain/Identifier.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { DeliveryLog, Reads, type StorePorts } from "../../src/ports/StorePorts.js"
import { Dispatcher, type DispatcherOptions } from "../../src/services/background/Dispatcher.js"
import { openShop, runCommand } from "../../src/testing/Fixtures.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { raisePings } from "../../src/testing/TestDispatcher.js"
import { ScriptedSender } from "./ScriptedSender.js"

/** The seed of every random test of this run, which `TEST_SEED=…` replaces. */
export const SEED = Number(process.env.TEST_SEED ?? 20_261_120)

/** Waits for one turn of the event loop. */
export const turnOfLoop = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/** Waits until `holds` returns true, and dies after 200,000 turns of the event loop. */
export const until = (condition: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let turns = 0; !holds(); turns++) {
      if (turns > 200_000) yield* Effect.dieMessage(`waited in vain until ${condition}`)
      yield* turnOfLoop
    }
  })

/**
 * A settable clock on which a sleep takes one turn of the event loop, or, from five seconds on, lasts until `endGrace`.
 */
export class HastyClock extends SettableClock {
  readonly #endOfGrace = Deferred.unsafeMake<void>(FiberId.none)
  override readonly sleep = (duration: Duration.Duration) =>
    Duration.toMillis(duration) >= 5000 ? Deferred.await(this.#endOfGrace) : turnOfLoop

  endGrace(): void {
    Deferred.unsafeDone(this.#endOfGrace, Effect.void)
  }
}

/** Wraps the store's ports, to inject faults or to record calls. */
export type Around = Layer.Layer<StorePorts, never, StorePorts>

export interface Bench {
  readonly clock: HastyClock
  readonly sender: ScriptedSender
  readonly logs: Array<string>
}

/** Runs a test's body with a dispatcher, a memory store and a scripted sender. */
export const withDispatcher =
  <A, E>(
    body: (bench: Bench) => Effect.Effect<A, E, Dispatcher | StorePorts | Entropy>,
    options: Partial<DispatcherOptions> = {},
    around?: Around,
    seed = SEED
  ) =>
  async (): Promise<void> => {
    const bench: Bench = { clock: new HastyClock(), sender: new ScriptedSender(), logs: [] }
    const log = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void bench.logs.push(String(message)))
    )
    const store = around === undefined ? memoryStore : Layer.provideMerge(around, memoryStore)
    const layers = Dispatcher.layer({ isJittered: false, ...options }).pipe(
      Layer.provide(bench.sender.layer),
      Layer.provideMerge(store),
      Layer.provideMerge(Entropy.layerSeeded(seed)),
      Layer.provideMerge(Layer.merge(bench.clock.layer, log))
    )
    const exit = await Effect.runPromiseExit(body(bench).pipe(Effect.provide(layers), Effect.withClock(bench.clock)))
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  }

/** Opens a shop whose webhook is on. */
export const openShopWithWebhook = Effect.gen(function* () {
  const { id } = yield* openShop()
  yield* runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" }))
  return id
})

export const raise = (shop_id: ShopId, ...tickets: ReadonlyArray<number | null>) =>
  runCommand(raisePings(shop_id, tickets))

export const eventIds = (shop_id: ShopId): Effect.Effect<ReadonlyArray<EventId>, unknown, Reads> =>
  Effect.flatMap(Reads, (reads) => Effect.map(reads.events(shop_id), (events) => events.map(({ id }) => id)))

export const logOf = (shop_id: ShopId) => Effect.flatMap(DeliveryLog, ({ deliveries }) => deliveries(shop_id))
