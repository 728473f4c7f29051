import {
  appOf,
  Dispatcher,
  Entropy,
  KeyInput,
  Keys,
  NotificationSender,
  Notifiers,
  Probes,
  Profanity,
  ShopInput,
  Shops,
  Workshop
} from "@workshop/core"
import { processMetrics } from "@workshop/http-node"
import * as NodeSender from "@workshop/http-node/sender"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema } from "effect"

/** The service on its ports over a store, and what it does by itself: closures, deliveries, notifications. */
export const workshopOn = <A, E, R>(store: Layer.Layer<A, E, R>) =>
  Workshop.background.pipe(
    Layer.provide(Layer.mergeAll(Dispatcher.layer(), NotificationSender.Default)),
    Layer.provide(Layer.merge(NodeSender.layer(), Notifiers.layer)),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layer),
    // For the metrics and the readiness.
    Layer.provideMerge(Layer.scopedDiscard(processMetrics)),
    Layer.provideMerge(Probes.layer)
  )

/** The service in memory. */
export const workshop = workshopOn(MemoryStore.layer)

/** A shop with a key, and its own counter as a caller. */
export const openShop = Effect.gen(function* () {
  const input = { name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
  const shop = yield* (yield* Shops).create(Schema.decodeSync(ShopInput)(input))
  const scopes = ["tickets:read", "tickets:write"] as const
  const { key } = yield* (yield* Keys).create(shop.id, Schema.decodeSync(KeyInput)({ name: "till", scopes }))
  return { counter: appOf(shop.id), key }
})
