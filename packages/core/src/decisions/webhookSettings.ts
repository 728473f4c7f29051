import { Either } from "effect"
import type { EventRecord } from "../domain/Event.js"
import type { ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import {
  isWebhookOn,
  overlapEndOf,
  recordSuccess,
  type Webhook,
  WebhookNotSet,
  withNewSecret
} from "../domain/Webhook.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/**
 * Sets the shop's URL. The first call sets the given secret; later calls keep the existing one (Specification,
 * Webhooks). A new URL starts with no failures, because the failures of the previous URL must not turn the webhook off.
 */
export const setWebhook = (
  shop_id: ShopId,
  { url, secret }: { readonly url: string; readonly secret: string }
): Command<Webhook> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    const initialWebhook = {
      generation: 1,
      enabled_at: moment.now,
      failure_steps_notified: 0,
      shop_id,
      secret,
      previous_secret: null,
      previous_until: null,
      off_reason: null,
      failures_in_row: 0,
      first_failure_at: null
    }
    const current = loaded.webhook ?? initialWebhook
    const row: Webhook = { ...(loaded.webhook?.url === url ? current : recordSuccess({ ...current, url })), url }
    return changes.add({ _tag: "WebhookPut", row }).toDecision(row)
  })

const changeWebhook = (
  shop_id: ShopId,
  next: (webhook: Webhook, now: Instant) => Webhook
): Command<Webhook, WebhookNotSet> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    if (loaded.webhook === null) return Either.left(new WebhookNotSet())
    const row = next(loaded.webhook, moment.now)
    return changes.add({ _tag: "WebhookPut", row }).toDecision(row)
  })

/**
 * A new secret. If it ended an older secret early, `replaces_before` is the instant until which that secret would have
 * signed; otherwise null.
 */
export interface RotatedSecret {
  readonly webhook: Webhook
  readonly replaces_before: Instant | null
}

/**
 * Gives the webhook a new secret; the old one also signs for 24 hours (Specification, Webhooks). A second rotation
 * within these hours ends the oldest secret early, and returns the instant until which it would have signed
 * (Specification, Endpoints).
 */
export const rotateSecret = (shop_id: ShopId, secret: string): Command<RotatedSecret, WebhookNotSet> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    if (loaded.webhook === null) return Either.left(new WebhookNotSet())
    const webhook = withNewSecret(loaded.webhook, secret, moment.now)
    changes.add({ _tag: "WebhookPut", row: webhook })
    return changes.toDecision({ webhook, replaces_before: overlapEndOf(loaded.webhook, moment.now) })
  })

/** Turns the webhook on again, with no failures. Parked deliveries are due at once, with all attempts again (Specification, Webhooks). */
export const enableWebhook = (shop_id: ShopId) =>
  changeWebhook(shop_id, (webhook, now) =>
    isWebhookOn(webhook)
      ? recordSuccess(webhook)
      : { ...recordSuccess(webhook), off_reason: null, generation: webhook.generation + 1, enabled_at: now }
  )

/** Turns the webhook off until its owner turns it on again; meanwhile deliveries are parked (Specification, Webhooks). */
export const disableWebhook = (shop_id: ShopId) =>
  changeWebhook(shop_id, (webhook) => ({ ...webhook, off_reason: "disabled" }))

/**
 * Removes the webhook, its URL, its secrets and its waiting deliveries, a thousand deliveries at a time. Until the last one is gone, the
 * webhook is only turned off, so no event is sent. The attempts stay in the log.
 */
export const removeWebhook = (shop_id: ShopId): Command<"removed" | "more", WebhookNotSet> =>
  makeCommand(shop_id, { waiting: Load.waitingDeliveries(Limits.replay_step_events) }, (loaded, changes) => {
    const { waiting, webhook } = loaded
    if (webhook === null) return Either.left(new WebhookNotSet())
    for (const event_id of waiting) changes.add({ _tag: "DeliveryRemoved", row: { shop_id, event_id } })
    if (waiting.length < Limits.replay_step_events)
      return changes.add({ _tag: "WebhookRemoved", row: { shop_id } }).toDecision<"removed" | "more">("removed")
    const row: Webhook = { ...webhook, off_reason: "disabled" }
    return changes.add({ _tag: "WebhookPut", row }).toDecision<"removed" | "more">("more")
  })

/** The app's test button: raises a `ping` (Specification, Webhooks). */
export const pingWebhook = (shop_id: ShopId): Command<EventRecord> =>
  makeCommand(shop_id, {}, (_, changes) => {
    return changes.toDecision(changes.raiseEvent("ping", {}, null))
  })
