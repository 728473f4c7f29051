import { Effect } from "effect"
import { createKey, type KeyInput, revokeKey } from "../decisions/shopSettings.js"
import { KEY_BYTES, KeyNotFound, makeKeyText } from "../domain/ApiKey.js"
import type { KeyId, ShopId } from "../domain/Identifier.js"
import { toIsoOrNull } from "../domain/Instant.js"
import { Entropy } from "../ports/Entropy.js"
import { Directory, Reads, Store } from "../ports/StorePorts.js"
import { ApiKeyCache } from "./ApiKeyCache.js"
import { makeAuditedCommandRunner } from "./CommandRunner.js"
import { inSandbox } from "./clock/ClockAdvance.js"
import { Shops } from "./Shops.js"

/** A shop's API keys, managed by its owner (Specification, Keys and scopes). */
export class Keys extends Effect.Service<Keys>()("@workshop/core/Keys", {
  accessors: true,
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const shops = yield* Shops
    const directory = yield* Directory
    const entropy = yield* Entropy
    const keyCache = yield* ApiKeyCache
    const run = makeAuditedCommandRunner(store)
    const isSandbox = yield* inSandbox
    /** The texts of the keys that a sandbox made, for testers; a production server stores none. */
    const texts = new Map<KeyId, string>()
    const newKeyText = Effect.gen(function* () {
      const isTest = isSandbox || (yield* directory.isSandboxMade)
      return makeKeyText(isTest ? "test" : "live", entropy.bytes(KEY_BYTES))
    })
    return {
      /**
       * Creates a key. `key` is its text, which is never shown again outside a sandbox. In a sandbox, and on the data of a sandbox, it is a
       * test key, whose text may be given (Specification, Keys and scopes).
       */
      create: Effect.fnUntraced(function* create(shop_id: ShopId, input: KeyInput, secret?: string) {
        yield* shops.byId(shop_id)
        const key = secret ?? (yield* newKeyText)
        const record = yield* run(createKey(shop_id, input, key), ({ id, name, scopes, expires_at }) => ({
          act: "key.created",
          details: { key_id: id, name, scopes, expires_at: toIsoOrNull(expires_at) }
        }))
        if (isSandbox) texts.set(record.id, key)
        return { record, key }
      }),
      /** The text of a key that this process made, if it is a sandbox; else null. */
      keyText: (id: KeyId): string | null => texts.get(id) ?? null,
      /** Replaces the stored key texts after the sandbox's data were replaced. */
      rememberKeyTexts: (known: ReadonlyMap<KeyId, string>): void => {
        texts.clear()
        for (const [id, text] of known) texts.set(id, text)
      },
      /** All keys of the shop, including revoked ones, oldest first. */
      list: (shop_id: ShopId) => Effect.zipRight(shops.byId(shop_id), reads.keys(shop_id)),
      /** Revokes a key: this process refuses it at once, others within a minute. */
      revoke: Effect.fnUntraced(function* revoke(id: KeyId) {
        const shop_id = yield* directory.shopOf({ _tag: "Key", id })
        if (shop_id === null) return yield* new KeyNotFound()
        const revoked = run(revokeKey(shop_id, id), ({ name }) => ({
          act: "key.revoked",
          details: { key_id: id, name }
        }))
        return yield* Effect.ensuring(revoked, keyCache.forget(shop_id))
      })
    }
  })
}) {}
