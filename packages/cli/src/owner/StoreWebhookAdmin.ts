import {
  DeliveryHistory,
  type Event,
  type OwnerPage,
  parseWebhookAddress,
  productionAddresses,
  Shops,
  type WebhookAddressPolicy,
  Webhooks
} from "@workshop/core"
import { overlapEndOf, toIsoOrNull } from "@workshop/core/internal"
import { Directory } from "@workshop/core/store"
import { deliveryView, noticeView } from "@workshop/http-node/internal"
import { Chunk, Clock, Effect, Either, Layer, Option, Stream } from "effect"
import { refuse } from "../CommandRefused.js"
import { WebhookAdmin } from "./WebhookAdmin.js"

/** The advice if an address is refused only because of its port. */
const portRemedy = (typed: string, policy: WebhookAddressPolicy): string => {
  const port = URL.canParse(typed) ? Number(new URL(typed).port || "443") : 0
  return port > 0 && Either.isRight(parseWebhookAddress(typed, { ...policy, ports: [port] }))
    ? `. To allow its port, add --webhook-port ${port}, and pass the same --webhook-port to serve and dispatch`
    : ""
}

/** The webhooks of a database. */
export const storeWebhookAdmin = Layer.effect(
  WebhookAdmin,
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const history = yield* DeliveryHistory
    const shops = yield* Shops
    const directory = yield* Directory
    return {
      set: Effect.fnUntraced(function* (shop, address, policy) {
        const url = yield* Either.mapLeft(parseWebhookAddress(address, policy), (must) =>
          refuse(`The address ${must}${portRemedy(address, policy)}.`)
        )
        const { secret, on, off_reason } = yield* webhooks.set(shop, url)
        const inProduction = parseWebhookAddress(url, { ...productionAddresses, ports: policy.ports })
        const isUndelivered = Either.isLeft(inProduction) && !(yield* directory.isSandboxMade)
        return { url, secret, on, off_reason, isUndelivered }
      }),
      status: webhooks.status,
      previousSecretUntil: Effect.fnUntraced(function* (shop) {
        const { webhook } = yield* shops.byId(shop)
        return toIsoOrNull(webhook === null ? null : overlapEndOf(webhook, yield* Clock.currentTimeMillis))
      }),
      rotate: webhooks.rotate,
      enable: webhooks.enable,
      disable: webhooks.disable,
      remove: webhooks.remove,
      ping: (shop) => Effect.map(webhooks.ping(shop), ({ body }) => JSON.parse(body) as Event),
      deliveries: (shop) =>
        Stream.paginateChunkEffect({} as OwnerPage, (page) =>
          Effect.map(history.list(shop, page), (deliveries) => [
            Chunk.reverse(Chunk.fromIterable(deliveries.map(deliveryView))),
            Option.map(Option.fromNullable(deliveries[0]), ({ seq }) => ({ before: seq }))
          ])
        ),
      replay: history.replay,
      notices: (shop) => Effect.map(history.notices(shop), (notices) => notices.map(noticeView))
    }
  })
)
