import type { ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { NoticeRecord } from "./Notice.js"
import type { NotificationRecord } from "./Notification.js"

/**
 * A notification or a notice on its way to whoever tells it: the embedder's notifiers. The row lives until it was told
 * or given up; what it says is stored apart, for good, under the same id.
 */
export interface MessageRecord {
  readonly shop_id: ShopId
  /** The id of the notification or the notice. */
  readonly id: string
  readonly receiver: "client" | "owner"
  /** How often it was begun to be told: counted before, so that whoever dies over it has used up an attempt. */
  readonly attempts_made: number
  readonly due_at: Instant
}

/** A message with what it says. */
export type Message =
  | (MessageRecord & { readonly receiver: "client"; readonly says: NotificationRecord })
  | (MessageRecord & { readonly receiver: "owner"; readonly says: NoticeRecord })
