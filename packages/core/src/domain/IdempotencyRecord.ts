import type { KeyId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** What an idempotency key stands for: one operation of one caller (Specification, Idempotency). */
export interface IdempotencyRecordKey {
  readonly caller_id: KeyId
  readonly operation: string
  readonly key: string
}

/** The first answer to an idempotency key, as text so that a replay is what it was (Specification, Idempotency). */
export interface IdempotencyRecord extends IdempotencyRecordKey {
  readonly shop_id: ShopId
  readonly fingerprint: string
  readonly answer: string
  readonly expires_at: Instant
}

/** Where a remembered answer stands in a slice. */
export const idempotencyRecordKey = ({ caller_id, operation, key }: IdempotencyRecordKey): string =>
  `${caller_id} ${operation} ${key}`
