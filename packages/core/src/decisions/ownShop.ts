import { Either, Schema } from "effect"
import { type ApiKeyRecord, KeyNotFound, keyHash, TooManyKeys } from "../domain/ApiKey.js"
import type { KeyId, ShopId } from "../domain/Identifier.js"
import { Limits } from "../domain/Limits.js"
import { LoyaltyProgram } from "../domain/LoyaltyProgram.js"
import { Scope } from "../domain/Scope.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import { Text } from "../domain/Text.js"
import { TicketNumber } from "../domain/TicketNumber.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Need.js"

/** A setting that stays where it is left out or `null` (contract §2). */
const kept = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true, nullable: true })

const { active, name, stamps_required, stamps_per_ticket, reward_label } = LoyaltyProgram.fields

/** Any of a shop's settings, its programme field by field (contract §10). */
export const ShopPatch = Schema.Struct({
  approved: kept(Schema.Boolean),
  active: kept(Schema.Boolean),
  api_enabled: kept(Schema.Boolean),
  program: kept(
    Schema.Struct({
      active: kept(active),
      name: Schema.optionalWith(name, { exact: true }),
      stamps_required: kept(stamps_required),
      stamps_per_ticket: kept(stamps_per_ticket),
      reward_label: Schema.optionalWith(reward_label, { exact: true })
    })
  ),
  next_number: kept(TicketNumber),
  forbidden_words: kept(Schema.Array(Text(Limits.name_characters)).pipe(Schema.maxItems(1000)))
}).pipe(Schema.brand("ShopPatch"))
export type ShopPatch = typeof ShopPatch.Type

/** Changes a shop's settings. */
export const changeShop = (
  shop_id: ShopId,
  { program, next_number, ...settings }: ShopPatch
): Command<{ readonly shop: ShopRecord; readonly head: ShopHead }> =>
  make({
    shop_id,
    needs: {},
    decide: (loaded, moment) => {
      const shop: ShopRecord = { ...loaded.shop, ...settings, program: { ...loaded.shop.program, ...program } }
      const head = next_number === undefined ? loaded.head : { ...loaded.head, next_number }
      const changes = new ChangeSet(loaded, moment).add({ _tag: "ShopPut", row: shop })
      return changes.head({ next_number: head.next_number }).decided({ shop, head })
    }
  })

/** A new key's name and what it may do. */
export const KeyInput = Schema.Struct({
  name: Text(Limits.name_characters),
  scopes: Schema.NonEmptyArray(Scope)
}).pipe(Schema.brand("KeyInput"))
export type KeyInput = typeof KeyInput.Type

/** Adds a key to the shop. `key` is its text, of which only the hash and the last four characters are stored (contract §7). */
export const createKey = (
  shop_id: ShopId,
  { name, scopes }: KeyInput,
  key: string
): Command<ApiKeyRecord, TooManyKeys> =>
  make({
    shop_id,
    needs: { keys: Need.keys },
    decide: (loaded, moment) => {
      const active = loaded.keys.filter(({ revoked_at }) => revoked_at === null)
      if (active.length >= Limits.active_keys_per_shop) return Either.left(new TooManyKeys())
      const changes = new ChangeSet(loaded, moment)
      const row: ApiKeyRecord = {
        id: changes.id<KeyId>(),
        shop_id,
        name,
        scopes: [...new Set(scopes)],
        hash: keyHash(key),
        last_four: key.slice(-4),
        created_at: moment.now,
        revoked_at: null
      }
      return changes.add({ _tag: "KeyPut", row }).decided(row)
    }
  })

/** Revokes a key; a key revoked before stays as it was (spec §5). */
export const revokeKey = (shop_id: ShopId, id: KeyId): Command<ApiKeyRecord, KeyNotFound> =>
  make({
    shop_id,
    needs: { keys: Need.keys },
    decide: (loaded, moment) => {
      const key = loaded.keys.find((key) => key.id === id)
      if (key === undefined) return Either.left(new KeyNotFound())
      const row = { ...key, revoked_at: key.revoked_at ?? moment.now }
      return new ChangeSet(loaded, moment).add({ _tag: "KeyPut", row }).decided(row)
    }
  })
