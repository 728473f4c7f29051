import type { CallerId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** The scope of an idempotency key: one operation of one caller (Specification, Idempotency). */
export interface IdempotencyRecordKey {
  readonly caller_id: CallerId
  readonly operation: string
  readonly key: string
}

/**
 * The first response for an idempotency key, as text, so that a replay returns exactly what the first response contained (Specification,
 * Idempotency).
 */
export interface IdempotencyRecord extends IdempotencyRecordKey {
  readonly shop_id: ShopId
  readonly fingerprint: string
  /** The result of the operation, as JSON. */
  readonly response: string
  readonly expires_at: Instant
}

/** The key of an idempotency record in a shop's state. */
export const idempotencyRecordKey = (key: IdempotencyRecordKey): string =>
  `${key.caller_id} ${key.operation} ${key.key}`
