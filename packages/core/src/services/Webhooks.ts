import { Effect } from "effect"
import {
  disableWebhook,
  enableWebhook,
  pingWebhook,
  removeWebhook,
  rotateSecret,
  setWebhook
} from "../decisions/ownWebhook.js"
import type { ShopId } from "../domain/Identifier.js"
import { SECRET_BYTES } from "../domain/SecretText.js"
import { webhookSecret, webhookStatus } from "../domain/Webhook.js"
import type { WebhookAddress } from "../domain/WebhookAddress.js"
import { Entropy } from "../ports/Entropy.js"
import { Reads } from "../ports/Reads.js"
import { Store } from "../ports/Store.js"
import { Shops } from "./Shops.js"

/** A shop's webhook: what its owner does with it (spec §6, contract §9). */
export class Webhooks extends Effect.Service<Webhooks>()("@workshop/core/Webhooks", {
  accessors: true,
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const shops = yield* Shops
    const entropy = yield* Entropy
    const newSecret = () => webhookSecret(entropy.bytes(SECRET_BYTES))
    return {
      /** Sets the address. The first time it makes the secret; either way the secret is shown. */
      set: Effect.fnUntraced(function* (shop_id: ShopId, url: WebhookAddress) {
        yield* shops.byId(shop_id)
        const { answer } = yield* store.transact(setWebhook(shop_id, { url, secret: newSecret() }))
        return { url: answer.url, secret: answer.secret }
      }),
      /** Where events go, and how that has been going. */
      status: (shop_id: ShopId) => Effect.map(shops.byId(shop_id), ({ webhook }) => webhookStatus(webhook)),
      /** A new secret; the old one signs beside it for 24 hours. */
      rotate: Effect.fnUntraced(function* (shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { answer } = yield* store.transact(rotateSecret(shop_id, newSecret()))
        return { secret: answer.secret }
      }),
      /** Turns the webhook on again. */
      enable: Effect.fnUntraced(function* (shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { answer } = yield* store.transact(enableWebhook(shop_id))
        return webhookStatus(answer)
      }),
      /** Turns the webhook off: events are parked until it is turned on again. */
      disable: Effect.fnUntraced(function* (shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { answer } = yield* store.transact(disableWebhook(shop_id))
        return webhookStatus(answer)
      }),
      /** Removes the webhook with its secrets and all that waits to be delivered. Setting an address makes a new secret. */
      remove: Effect.fnUntraced(function* (shop_id: ShopId) {
        yield* shops.byId(shop_id)
        yield* Effect.repeat(store.transact(removeWebhook(shop_id)), { until: ({ answer }) => answer === "removed" })
        return webhookStatus(null)
      }),
      /** Raises a `ping`. */
      ping: Effect.fnUntraced(function* (shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { answer } = yield* store.transact(pingWebhook(shop_id))
        return answer
      }),
      /** The shop's events as sent, oldest first. */
      events: (shop_id: ShopId) => Effect.zipRight(shops.byId(shop_id), reads.events(shop_id))
    }
  })
}) {}
