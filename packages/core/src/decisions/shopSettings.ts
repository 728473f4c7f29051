import { Either, Schema } from "effect"
import { type ApiKeyRecord, hashKey, isActive, KeyNotFound, Scope, TooManyKeys } from "../domain/ApiKey.js"
import type { KeyId, ShopId } from "../domain/Identifier.js"
import { DateOrDateTimeText } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Language } from "../domain/Language.js"
import { Limits } from "../domain/Limits.js"
import { LoyaltyProgram } from "../domain/LoyaltyCard.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { TicketNumber } from "../domain/Ticket.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

const { active, name, stamps_required, stamps_per_ticket, reward_label } = LoyaltyProgram.fields

const Words = Schema.Array(Text(Limits.name_characters)).pipe(
  Schema.maxItems(Limits.forbidden_words_max, {
    message: () => `must have at most ${Limits.forbidden_words_max} words`
  })
)

/** The languages whose default words a shop refuses, each once. */
export const Languages = Schema.Array(Language).pipe(
  Schema.maxItems(Limits.named_values_max),
  Schema.filter((languages) => new Set(languages).size === languages.length || "must not contain a language twice"),
  Schema.annotations({
    jsonSchema: { type: "array", items: { type: "string", enum: [...Language.literals] }, uniqueItems: true }
  })
)

/**
 * Changes of a shop's settings and of the fields of its programme. Absent fields keep their values, and null clears the
 * programme's name and label (Specification, Sandbox).
 */
export const ShopPatch = Schema.Struct({
  approved: optional(Schema.Boolean),
  active: optional(Schema.Boolean),
  api_enabled: optional(Schema.Boolean),
  program: optional(
    Schema.Struct({
      active: optional(active),
      name: Schema.optionalWith(name, { exact: true }),
      stamps_required: optional(stamps_required),
      stamps_per_ticket: optional(stamps_per_ticket),
      reward_label: Schema.optionalWith(reward_label, { exact: true })
    })
  ),
  next_number: optional(TicketNumber),
  forbidden_words: optional(Words),
  allowed_words: optional(Words),
  languages: optional(Languages)
})
  .pipe(Schema.brand("ShopPatch"))
  .annotations({ identifier: "ShopPatchInput", ...refuseUnknownFields })
/** The settings to change, which {@link ShopPatch} has checked. An absent or null setting stays. */
export type ShopPatch = typeof ShopPatch.Type

const patchProgram = (before: LoyaltyProgram, patch: ShopPatch["program"]): LoyaltyProgram => ({
  ...before,
  ...patch,
  active: patch?.active ?? before.active,
  stamps_required: patch?.stamps_required ?? before.stamps_required,
  stamps_per_ticket: patch?.stamps_per_ticket ?? before.stamps_per_ticket
})

/** Changes a shop's settings. */
export const changeShop = (
  shop_id: ShopId,
  patch: ShopPatch
): Command<{ readonly shop: ShopRecord; readonly head: ShopHead }> =>
  makeCommand(shop_id, {}, (loaded, changes) => {
    const before = loaded.shop
    const shop: ShopRecord = {
      ...before,
      approved: patch.approved ?? before.approved,
      active: patch.active ?? before.active,
      api_enabled: patch.api_enabled ?? before.api_enabled,
      program: patchProgram(before.program, patch.program),
      forbidden_words: patch.forbidden_words ?? before.forbidden_words,
      allowed_words: patch.allowed_words ?? before.allowed_words,
      languages: patch.languages ?? before.languages
    }
    const head = { ...loaded.head, next_number: patch.next_number ?? loaded.head.next_number }
    changes.add({ _tag: "ShopPut", row: shop })
    return changes.updateHead({ next_number: head.next_number }).toDecision({ shop, head })
  })

/** A new key's name, its scopes, and optionally the instant at which it expires. */
export const KeyInput = Schema.Struct({
  name: Text(Limits.name_characters),
  scopes: Schema.NonEmptyArray(Scope).pipe(Schema.maxItems(Limits.named_values_max)),
  expires_at: optional(DateOrDateTimeText)
})
  .pipe(Schema.brand("KeyInput"))
  .annotations(refuseUnknownFields)
/** An API key to create, which {@link KeyInput} has checked. `expires_at` is in milliseconds since 1970. */
export type KeyInput = typeof KeyInput.Type

const expiryNotInFuture = new InvalidInput({ issues: [{ field: "expires_at", message: "must be in the future" }] })

/**
 * Adds a key to the shop. `key` is its text, of which only the hash and the last four characters are stored (Specification, Keys and
 * scopes).
 */
export const createKey = (
  shop_id: ShopId,
  { name, scopes, expires_at }: KeyInput,
  key: string
): Command<ApiKeyRecord, TooManyKeys | InvalidInput> =>
  makeCommand(shop_id, { keys: Load.keys }, (loaded, changes, moment) => {
    const active = loaded.keys.filter((existingKey) => isActive(existingKey, moment.now))
    if (active.length >= Limits.active_keys_per_shop) return Either.left(new TooManyKeys())
    if ((expires_at ?? moment.now + 1) <= moment.now) return Either.left(expiryNotInFuture)
    const row: ApiKeyRecord = {
      id: changes.newId<KeyId>(),
      shop_id,
      name,
      scopes: [...new Set(scopes)],
      hash: hashKey(key),
      last_four: key.slice(-4),
      created_at: moment.recorded_at,
      revoked_at: null,
      expires_at: expires_at ?? null,
      last_used_at: null
    }
    return changes.add({ _tag: "KeyPut", row }).toDecision(row)
  })

/** Revokes a key; a key that was revoked before does not change (Specification, Keys and scopes). */
export const revokeKey = (shop_id: ShopId, id: KeyId): Command<ApiKeyRecord, KeyNotFound> =>
  makeCommand(shop_id, { keys: Load.keys }, (loaded, changes, moment) => {
    const key = loaded.keys.find((key) => key.id === id)
    if (key === undefined) return Either.left(new KeyNotFound())
    const row = { ...key, revoked_at: key.revoked_at ?? moment.now }
    return changes.add({ _tag: "KeyPut", row }).toDecision(row)
  })
