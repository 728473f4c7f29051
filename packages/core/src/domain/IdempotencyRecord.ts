import type { CallerId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** The scope of an idempotency key: one operation of one caller (Specification, Idempotency). */
export interface IdempotencyRecordKey {
  /** The caller who sent the key. Callers do not share keys. */
  readonly caller_id: CallerId
  /** The operation's name. The same key for another operation is another record. */
  readonly operation: string
  /** The key that the caller chose, at most `Limits.idempotency_key_characters` characters. */
  readonly key: string
}

/**
 * The first response for an idempotency key, as text, so that a replay returns exactly what the first response contained (Specification,
 * Idempotency).
 */
export interface IdempotencyRecord extends IdempotencyRecordKey {
  /** The shop that the request changed. */
  readonly shop_id: ShopId
  /** The request as JSON, or its SHA-256 in hexadecimal if it is long. The key with another request is refused. */
  readonly fingerprint: string
  /** The result of the operation, as JSON. */
  readonly response: string
  /** When the key can be used for another request, in milliseconds since 1970. */
  readonly expires_at: Instant
}

/** The key of an idempotency record in a shop's state. */
export const idempotencyRecordKey = (key: IdempotencyRecordKey): string =>
  `${key.caller_id} ${key.operation} ${key.key}`
