import { Schema } from "effect"
import { sha256Hex } from "./Digest.js"
import type { KeyId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import { Limits } from "./Limits.js"
import { Refused } from "./Refusal.js"
import { isSecretText, SECRET_BYTES, secretText } from "./SecretText.js"

/** A permission of a key (Specification, Keys and scopes). */
export const Scope = Schema.Literal("tickets:read", "tickets:write", "clients:read", "loyalty:write").annotations({
  identifier: "Scope"
})
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

/** An API key as it is stored: never the key, only its hash and its last four characters (Specification, Keys and scopes). */
export interface ApiKeyRecord {
  readonly id: KeyId
  readonly shop_id: ShopId
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly hash: string
  readonly last_four: string
  readonly created_at: Instant
  readonly revoked_at: Instant | null
  /** From then on it is refused; null for one that never expires. */
  readonly expires_at: Instant | null
  /** When a request last used it, to the minute; null where none ever did. */
  readonly last_used_at: Instant | null
}

/** Whether a key is good at an instant: neither revoked nor expired. */
export const isActive = ({ revoked_at, expires_at }: ApiKeyRecord, now: Instant): boolean =>
  revoked_at === null && (expires_at === null || now < expires_at)

/** The kind of server that a key is for: a shop of a server in earnest, or of a sandbox, which no other server takes (Specification, Keys and scopes). */
export type KeyKind = "live" | "test"

/** How a key begins. */
export const keyPrefixes = { live: "wk_live_", test: "wk_test_" } as const satisfies Record<KeyKind, string>

/** A test key may be given, so that a till's configuration outlives the sandbox; it is shorter or longer then. */
const TEST_KEY = /^wk_test_[A-Za-z0-9_-]{8,64}$/

/** Bytes of entropy a new key takes. */
export const KEY_BYTES = SECRET_BYTES

/** The key's text, shown once. */
export const keyText = (kind: KeyKind, entropy: Uint8Array): string => keyPrefixes[kind] + secretText(entropy)

/** The hash of a key as it is stored, in lower-case hexadecimal. */
export const keyHash = (key: string): string => sha256Hex(key)

/** Whether a text could be a test key. */
export const looksLikeTestKey = (text: string): boolean => TEST_KEY.test(text)

/** Whether a text could be a key at all; anything else needs no look-up. */
export const looksLikeKey = (text: string): boolean =>
  looksLikeTestKey(text) || (text.startsWith(keyPrefixes.live) && isSecretText(text.slice(keyPrefixes.live.length)))

/** The shop has as many active keys as it may have (Specification, Limits). */
export class TooManyKeys extends Refused(
  "TooManyKeys",
  `The shop has ${Limits.active_keys_per_shop} active keys, which is the most; revoke one first`
) {}

/** No such key. */
export class KeyNotFound extends Refused("KeyNotFound", "There is no such key") {}
