import {
  appCaller,
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

/** The service's background work, which uses the services: closures, deliveries, notifications. */
export const background = Workshop.background.pipe(
  Layer.provide(Layer.mergeAll(Dispatcher.layer(), NotificationSender.Default)),
  Layer.provide(Layer.merge(NodeSender.layer(), Notifiers.layer))
)

/** The services with all their ports, on a store. */
export const servicesOn = <A, E, R>(store: Layer.Layer<A, E, R>) =>
  Workshop.layer.pipe(
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layer),
    // The metrics and the readiness need these layers.
    Layer.provideMerge(Layer.scopedDiscard(processMetrics)),
    Layer.provideMerge(Probes.layer)
  )

/** The services in memory. */
export const services = servicesOn(MemoryStore.layer)

/** The services and their background work in memory, for a program without a server. */
export const workshop = Layer.provideMerge(background, services)

/** Creates a shop with a key, and returns its counter as a caller. */
export const openShop = Effect.gen(function* () {
  const input = { name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
  const shop = yield* (yield* Shops).create(Schema.decodeSync(ShopInput)(input))
  const scopes = ["tickets:read", "tickets:write"] as const
  const { key } = yield* (yield* Keys).create(shop.id, Schema.decodeSync(KeyInput)({ name: "till", scopes }))
  return { counter: appCaller(shop.id), key }
})
