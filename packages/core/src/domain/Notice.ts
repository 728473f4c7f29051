import type { ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { WebhookOffReason } from "./Webhook.js"

/** What the owner is told: deliveries keep failing, or the webhook turned off (Specification, Webhooks). */
export type NoticeKind = "webhook_failing" | "webhook_off"

/** Something the owner must know. It is stored with what caused it, so it is told even if the process dies (Specification, Webhooks). */
export interface NoticeRecord {
  readonly shop_id: ShopId
  readonly id: string
  readonly kind: NoticeKind
  readonly created_at: Instant
  readonly url: string
  /** Why it turned off; null for a warning. */
  readonly off_reason: WebhookOffReason | null
  readonly failures_in_row: number
  readonly first_failure_at: Instant | null
}
