import { Data, Schema } from "effect"
import type { ShopId } from "./Identifier.js"
import { type Instant, toIsoOrNull } from "./Instant.js"
import { Limits } from "./Limits.js"
import { secretText } from "./SecretText.js"

/** Why a webhook is off: its receiver said it is gone, it failed for too long (Specification, Webhooks), or its owner turned it off. */
export const WebhookOffReason = Schema.Literal("gone", "failing", "disabled")
export type WebhookOffReason = typeof WebhookOffReason.Type

/** The one address to which a shop's events are sent (Specification, Webhooks). */
export interface Webhook {
  readonly shop_id: ShopId
  readonly url: string
  readonly secret: string
  /** The secret before the last change; both sign until `previous_until` (Specification, Webhooks). */
  readonly previous_secret: string | null
  readonly previous_until: Instant | null
  readonly off_reason: WebhookOffReason | null
  readonly failures_in_row: number
  readonly first_failure_at: Instant | null
  /** How many of the steps on the way to the switch-off the owner was told of in this row of failures. */
  readonly steps_told: number
  /** Raised each time the webhook is turned on again: deliveries from before are then due anew, without being touched. */
  readonly generation: number
  /** When it was last turned on. */
  readonly released_at: Instant
}

/** A webhook as its owner sees it (Specification, Sandbox). */
export interface WebhookStatus {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: WebhookOffReason | null
  readonly failures_in_row: number
  readonly first_failure_at: string | null
}

/** The shop has no webhook. */
export class WebhookNotSet extends Data.TaggedError("WebhookNotSet")<{}> {
  override get message() {
    return "The shop has no webhook; set its address first"
  }
}

const SECRET_PREFIX = "whsec_"

/** Whether a text begins as every webhook's secret does: one that does not was cut, or is another's (Specification, Webhooks). */
export const beginsAsSecret = (text: string): boolean => text.startsWith(SECRET_PREFIX)

/** A webhook secret's text (Specification, Webhooks). */
export const webhookSecret = (entropy: Uint8Array): string => `${SECRET_PREFIX}${secretText(entropy)}`

/** The webhook with a new secret; the old one signs beside it for 24 hours (Specification, Webhooks). */
export const rotated = (webhook: Webhook, secret: string, now: Instant): Webhook => ({
  ...webhook,
  secret,
  previous_secret: webhook.secret,
  previous_until: now + Limits.secret_overlap_ms
})

/** Until when the secret before the last change still signs; null where it does not. */
export const overlapEnd = ({ previous_until }: Webhook, now: Instant): Instant | null =>
  previous_until !== null && now < previous_until ? previous_until : null

/** The webhook as its owner sees it; without one everything is empty. */
export const webhookStatus = (webhook: Webhook | null): WebhookStatus =>
  webhook === null
    ? { url: null, on: false, off_reason: null, failures_in_row: 0, first_failure_at: null }
    : {
        url: webhook.url,
        on: webhook.off_reason === null,
        off_reason: webhook.off_reason,
        failures_in_row: webhook.failures_in_row,
        first_failure_at: toIsoOrNull(webhook.first_failure_at)
      }
