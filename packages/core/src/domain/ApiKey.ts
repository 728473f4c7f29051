import { Schema } from "effect"
import { sha256Hex } from "./Digest.js"
import type { KeyId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import { Limits } from "./Limits.js"
import { RefusalOf } from "./RefusalOf.js"
import { isSecretText, SECRET_BYTES, toSecretText } from "./SecretText.js"

/** A permission of a key (Specification, Keys and scopes). */
export const Scope = Schema.Literal("tickets:read", "tickets:write", "clients:read", "loyalty:write").annotations({
  identifier: "Scope"
})
/** One of the permissions in {@link Scope}. */
export type Scope = typeof Scope.Type

/** A description of each scope (Specification, Keys and scopes). */
export const scopeGrants = {
  "tickets:read": "Read tickets",
  "tickets:write": "Create tickets and change their state",
  "clients:read": "Find a client and read their loyalty card",
  "loyalty:write": "Add stamps and use a reward"
} as const satisfies Record<Scope, string>

/** The sets of scopes that the app offers by name: full access and read only (Specification, Keys and scopes). */
export const scopePresets = {
  full: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"],
  read: ["tickets:read", "clients:read"]
} as const satisfies Record<string, ReadonlyArray<Scope>>

/** An API key as it is stored: its hash and its last four characters, but never the key itself (Specification, Keys and scopes). */
export interface ApiKeyRecord {
  /** The key's id, with which the owner revokes it. */
  readonly id: KeyId
  /** The shop to which the key gives access. */
  readonly shop_id: ShopId
  /** The name by which the owner knows the key. */
  readonly name: string
  /** The scopes of the key. */
  readonly scopes: ReadonlyArray<Scope>
  /** The hash of the key's text. */
  readonly hash: string
  /** The last four characters of the key's text. */
  readonly last_four: string
  /** When the key was created, in milliseconds since 1970. */
  readonly created_at: Instant
  /** When the key was revoked; null if it was not. */
  readonly revoked_at: Instant | null
  /** The instant from which the key is refused; null if it never expires. */
  readonly expires_at: Instant | null
  /** When a request last used the key, to the minute; null if none did. */
  readonly last_used_at: Instant | null
}

/** Whether a key is valid at an instant: neither revoked nor expired. */
export const isActive = ({ revoked_at, expires_at }: ApiKeyRecord, now: Instant): boolean =>
  revoked_at === null && (expires_at === null || now < expires_at)

/**
 * The kind of server that accepts a key: a production server or a sandbox, whose keys no other server accepts (Specification, Keys and
 * scopes).
 */
export type KeyKind = "live" | "test"

/** The beginning of a key, by its kind. */
export const keyPrefixes = { live: "wk_live_", test: "wk_test_" } as const satisfies Record<KeyKind, string>

/** The length of a test key may vary, because a tester may choose its text, so that a till's configuration stays valid. */
const TEST_KEY = /^wk_test_[A-Za-z0-9_-]{8,64}$/

/** The number of random bytes in a new key. */
export const KEY_BYTES = SECRET_BYTES

/** The key's text, shown once. */
export const makeKeyText = (kind: KeyKind, entropy: Uint8Array): string => keyPrefixes[kind] + toSecretText(entropy)

/** The hash of a key as it is stored, in lower-case hexadecimal. */
export const hashKey = (key: string): string => sha256Hex(key)

/** Whether a text has the form of a test key. */
export const looksLikeTestKey = (text: string): boolean => TEST_KEY.test(text)

/** Whether a text has the form of a key; if not, no look-up is needed. */
export const looksLikeKey = (text: string): boolean =>
  looksLikeTestKey(text) || (text.startsWith(keyPrefixes.live) && isSecretText(text.slice(keyPrefixes.live.length)))

/** The shop has the maximum number of active keys (Specification, Limits). */
export class TooManyKeys extends RefusalOf(
  "TooManyKeys",
  `The shop already has ${Limits.active_keys_per_shop} active API keys, the maximum. Revoke one first.`
) {}

/** No such key. */
export class KeyNotFound extends RefusalOf("KeyNotFound", "There is no API key with this id") {}
