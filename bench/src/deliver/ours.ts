// Our dispatcher, on a database or, without one, on the memory store. The benchmark runs this program in its own
// process.

import { Dispatcher, Entropy, type ShopId, sandboxAddresses } from "@workshop/core"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { PgStore } from "@workshop/store-pg"
import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { openShop, runCommand } from "../../../packages/core/dist/testing/Fixtures.js"
import { raisePings } from "../../../packages/core/dist/testing/TestDispatcher.js"
import { answerParent } from "./Child.js"
import { type Compare, type Deliver, type Hang, measureRun, type Raise, SHOPS } from "./Job.js"
import { RunningClock } from "./RunningClock.js"

const [receiver, url] = process.argv.slice(2)

const clock = new RunningClock()
const store = url === undefined || url === "" ? MemoryStore.layer : PgStore.layer({ url })
const runtime = ManagedRuntime.make(
  Dispatcher.layer().pipe(
    Layer.provide(NodeSender.layer({ policy: sandboxAddresses })),
    Layer.provideMerge(store),
    Layer.provideMerge(Layer.merge(Entropy.layer, clock.layer))
  )
)

const hooked = (path: string) =>
  Effect.gen(function* () {
    const { id } = yield* openShop()
    yield* runCommand(setWebhook(id, { url: `http://127.0.0.1:${receiver}/${path}`, secret: "whsec_1" }))
    return id
  })

const MAX_EVENTS = 1000

const raise = (shop_id: ShopId, events: number) =>
  Effect.gen(function* () {
    for (let left = events; left > 0; left -= MAX_EVENTS)
      yield* runCommand(raisePings(shop_id, Array(Math.min(left, MAX_EVENTS)).fill(null)))
  })

const shops = await runtime.runPromise(Effect.replicateEffect(hooked("ok"), SHOPS))

const now = () => clock.unsafeCurrentTimeMillis()

/** Delivers like a server, until nothing is due or in flight. */
const workOff = Effect.gen(function* () {
  const { run: dispatching, next } = yield* Dispatcher
  const fiber = yield* Effect.fork(dispatching)
  while ((yield* Effect.suspend(() => next(now()))) !== null) yield* Effect.sleep("20 millis")
  yield* Effect.forkDaemon(Fiber.interrupt(fiber))
})

const raiseAll = ({ raised }: Raise) =>
  Effect.as(
    Effect.forEach(shops, (shop_id) => raise(shop_id, raised), { discard: true }),
    {}
  )

const deliver = ({ events, isWatched }: Deliver) =>
  measureRun(events * SHOPS, () => runtime.runPromise(workOff), isWatched)

const HEALTHY = 20
const PAUSE = "50 millis"

const hang = ({ backlog }: Hang) =>
  Effect.as(
    Effect.flatMap(hooked("hang"), (shop_id) => raise(shop_id, backlog)),
    {}
  )

const compare = ({ seconds }: Compare) =>
  Effect.gen(function* () {
    const { run: dispatching } = yield* Dispatcher
    const fiber = yield* Effect.fork(dispatching)
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      yield* Effect.forEach(shops.slice(0, HEALTHY), (shop_id) => raise(shop_id, 1), { concurrency: "unbounded" })
      yield* Effect.sleep(PAUSE)
    }
    yield* Effect.sleep("1 second")
    yield* Effect.forkDaemon(Fiber.interrupt(fiber))
    return {}
  })

answerParent<Raise | Deliver | Hang | Compare>({ ready: true }, (question) => {
  if ("raised" in question) return runtime.runPromise(raiseAll(question))
  if ("events" in question) return deliver(question)
  return runtime.runPromise("backlog" in question ? hang(question) : compare(question))
})
