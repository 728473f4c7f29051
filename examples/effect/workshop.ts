import { KeyInput } from "@workshop/core/decisions/shopSettings"
import { productionAddresses } from "@workshop/core/domain/WebhookAddress"
import { Entropy } from "@workshop/core/ports/Entropy"
import { appOf } from "@workshop/core/services/Caller"
import { Closer } from "@workshop/core/services/Closer"
import { observing } from "@workshop/core/services/CommittedEvents"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Keys } from "@workshop/core/services/Keys"
import { NotificationSender } from "@workshop/core/services/NotificationSender"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as Profanity from "@workshop/core/services/Profanity"
import { ShopInput, Shops } from "@workshop/core/services/Shops"
import { layer as services } from "@workshop/core/services/Workshop"
import * as NodeSender from "@workshop/http-node/sender/NodeSender"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Effect, Layer, Schema } from "effect"

/** The service on its ports. The store stands in one line: another one goes there, and nothing else changes. */
export const workshop = Layer.mergeAll(Dispatcher.layer(), NotificationSender.Default).pipe(
  Layer.provide(Layer.merge(NodeSender.layer({ policy: productionAddresses }), Notifiers.layer)),
  Layer.provideMerge(services),
  Layer.provideMerge(observing(MemoryStore.layer)),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer)
)

/** What goes on by itself: closures, deliveries, messages. */
export const background = Layer.scopedDiscard(
  Effect.gen(function* () {
    yield* Effect.forkScoped((yield* Closer).run)
    yield* Effect.forkScoped((yield* Dispatcher).run)
    yield* Effect.forkScoped((yield* NotificationSender).run)
  })
)

/** A shop with a key, and its own counter as a caller. */
export const openShop = Effect.gen(function* () {
  const input = { name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
  const shop = yield* (yield* Shops).create(Schema.decodeSync(ShopInput)(input))
  const scopes = ["tickets:read", "tickets:write"] as const
  const { key } = yield* (yield* Keys).create(shop.id, Schema.decodeSync(KeyInput)({ name: "till", scopes }))
  return { counter: appOf(shop.id), key }
})
