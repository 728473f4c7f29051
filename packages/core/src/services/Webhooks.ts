import { Effect } from "effect"
import {
  disableWebhook,
  enableWebhook,
  pingWebhook,
  removeWebhook,
  rotateSecret,
  setWebhook
} from "../decisions/webhookSettings.js"
import type { AuditAct } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import { toIsoOrNull } from "../domain/Instant.js"
import { SECRET_BYTES } from "../domain/SecretText.js"
import { webhookSecret, webhookStatus } from "../domain/Webhook.js"
import type { WebhookAddress } from "../domain/WebhookAddress.js"
import { Entropy } from "../ports/Entropy.js"
import { Reads, Store } from "../ports/StorePorts.js"
import { auditing } from "./Actor.js"
import { type OwnerPage, pageOf } from "./DeliveryHistory.js"
import { Shops } from "./Shops.js"

const plainly = (act: AuditAct) => () => ({ act, details: {} })

/** A shop's webhook: what its owner does with it (Specification, Webhooks). */
export class Webhooks extends Effect.Service<Webhooks>()("@workshop/core/Webhooks", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = auditing(yield* Store)
    const reads = yield* Reads
    const shops = yield* Shops
    const entropy = yield* Entropy
    const newSecret = () => webhookSecret(entropy.bytes(SECRET_BYTES))
    return {
      /**
       * Sets the address. The first time it makes the secret; either way the secret is shown. It does not turn a webhook
       * on that is off: the answer says whether it is, and `enable` turns it on.
       */
      set: Effect.fnUntraced(function* set(shop_id: ShopId, url: WebhookAddress) {
        yield* shops.byId(shop_id)
        const set = yield* run(setWebhook(shop_id, { url, secret: newSecret() }), () => ({
          act: "webhook.set",
          details: { host: new URL(url).host }
        }))
        const { url: at, on, off_reason } = webhookStatus(set)
        return { url: at ?? url, secret: set.secret, on, off_reason }
      }),
      /** Where events go, and how that has been going. */
      status: (shop_id: ShopId) => Effect.map(shops.byId(shop_id), ({ webhook }) => webhookStatus(webhook)),
      /**
       * A new secret; the old one signs beside it for 24 hours. `replaces_before` is null, or until when the secret
       * before that would still have signed: a second rotation within 24 hours ends it at once.
       */
      rotate: Effect.fnUntraced(function* rotate(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { webhook, replaces_before } = yield* run(rotateSecret(shop_id, newSecret()), plainly("webhook.rotated"))
        return { secret: webhook.secret, replaces_before: toIsoOrNull(replaces_before) }
      }),
      /** Turns the webhook on again. */
      enable: Effect.fnUntraced(function* enable(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return webhookStatus(yield* run(enableWebhook(shop_id), plainly("webhook.enabled")))
      }),
      /** Turns the webhook off: events are parked until it is turned on again. */
      disable: Effect.fnUntraced(function* disable(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return webhookStatus(yield* run(disableWebhook(shop_id), plainly("webhook.disabled")))
      }),
      /** Removes the webhook with its secrets and all that waits to be delivered. Setting an address makes a new secret. */
      remove: Effect.fnUntraced(function* remove(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const step = run(removeWebhook(shop_id), (answer) =>
          answer === "removed" ? { act: "webhook.removed", details: {} } : null
        )
        yield* Effect.repeat(step, { until: (answer) => answer === "removed" })
        return webhookStatus(null)
      }),
      /** Raises a `ping`. */
      ping: Effect.fnUntraced(function* ping(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return yield* run(pingWebhook(shop_id), ({ id }) => ({ act: "webhook.pinged", details: { event_id: id } }))
      }),
      /** The shop's latest events as sent, oldest first; the page before is that before the first one's `seq`. */
      events: (shop_id: ShopId, page: OwnerPage = {}) =>
        Effect.zipRight(shops.byId(shop_id), reads.events(shop_id, pageOf(page)))
    }
  })
}) {}
