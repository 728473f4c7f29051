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
import { makeWebhookSecret, webhookStatus } from "../domain/Webhook.js"
import type { WebhookAddress } from "../domain/WebhookAddress.js"
import { Entropy } from "../ports/Entropy.js"
import { Reads, Store } from "../ports/StorePorts.js"
import { makeAuditedCommandRunner } from "./CommandRunner.js"
import { eventRangeOf, type OwnerPage } from "./DeliveryHistory.js"
import { Shops } from "./Shops.js"

const withoutDetails = (act: AuditAct) => () => ({ act, details: {} })

/** A shop's webhook, managed by its owner (Specification, Webhooks). */
export class Webhooks extends Effect.Service<Webhooks>()("@workshop/core/Webhooks", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeAuditedCommandRunner(yield* Store)
    const reads = yield* Reads
    const shops = yield* Shops
    const entropy = yield* Entropy
    const newSecret = () => makeWebhookSecret(entropy.bytes(SECRET_BYTES))
    return {
      /**
       * Sets the URL and returns the secret, which the first call creates. It does not turn on a webhook that is off: the result says
       * whether it is on, and `enable` turns it on.
       */
      set: Effect.fnUntraced(function* set(shop_id: ShopId, url: WebhookAddress) {
        yield* shops.byId(shop_id)
        const webhook = yield* run(setWebhook(shop_id, { url, secret: newSecret() }), () => ({
          act: "webhook.set",
          details: { host: new URL(url).host }
        }))
        const { url: at, on, off_reason } = webhookStatus(webhook)
        return { url: at ?? url, secret: webhook.secret, on, off_reason }
      }),
      /** The webhook's URL, state and health. */
      status: (shop_id: ShopId) => Effect.map(shops.byId(shop_id), ({ webhook }) => webhookStatus(webhook)),
      /**
       * Creates a new secret; the old one also signs for 24 hours. A second rotation within 24 hours ends the use of
       * the oldest secret at once: `replaces_before` is the time until which the oldest secret would have signed, and
       * null if there was none.
       */
      rotate: Effect.fnUntraced(function* rotate(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const { webhook, replaces_before } = yield* run(
          rotateSecret(shop_id, newSecret()),
          withoutDetails("webhook.rotated")
        )
        return { secret: webhook.secret, replaces_before: toIsoOrNull(replaces_before) }
      }),
      /** Turns the webhook on again. */
      enable: Effect.fnUntraced(function* enable(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return webhookStatus(yield* run(enableWebhook(shop_id), withoutDetails("webhook.enabled")))
      }),
      /** Turns the webhook off: deliveries are parked until it is turned on again. */
      disable: Effect.fnUntraced(function* disable(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return webhookStatus(yield* run(disableWebhook(shop_id), withoutDetails("webhook.disabled")))
      }),
      /** Removes the webhook with its secrets and waiting deliveries. If a URL is set later, it gets a new secret. */
      remove: Effect.fnUntraced(function* remove(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        const step = run(removeWebhook(shop_id), (result) =>
          result === "removed" ? { act: "webhook.removed", details: {} } : null
        )
        yield* Effect.repeat(step, { until: (result) => result === "removed" })
        return webhookStatus(null)
      }),
      /** Raises a `ping`. */
      ping: Effect.fnUntraced(function* ping(shop_id: ShopId) {
        yield* shops.byId(shop_id)
        return yield* run(pingWebhook(shop_id), ({ id }) => ({ act: "webhook.pinged", details: { event_id: id } }))
      }),
      /** The shop's latest events as they were sent, oldest first. For earlier ones, pass the `seq` of the first one as `before`. */
      events: (shop_id: ShopId, page: OwnerPage = {}) =>
        Effect.zipRight(shops.byId(shop_id), reads.events(shop_id, eventRangeOf(page)))
    }
  })
}) {}
