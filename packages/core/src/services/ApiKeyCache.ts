import { Effect, Stream } from "effect"
import { type ApiKeyRecord, isActive, keyHash, looksLikeKey, looksLikeTestKey } from "../domain/ApiKey.js"
import type { ShopId } from "../domain/Identifier.js"
import { type Instant, SECOND_MS } from "../domain/Instant.js"
import type { ShopRecord } from "../domain/Shop.js"
import { Directory } from "../ports/Directory.js"
import type { Caller } from "./Caller.js"
import { lastUsedWriter } from "./LastUsedWriter.js"
import { inSandbox } from "./SandboxClock.js"

/** A good key: on whose behalf it speaks, and its shop as it was when the key was read. */
export interface ApiKeyHolder {
  readonly caller: Caller
  readonly shop: ShopRecord
}

/** How long a key read from the directory is believed, if nothing tells that it changed: within the minute of Specification, Keys and scopes. */
const BELIEVED_MS = 30 * SECOND_MS
const MOST_KEYS = 10_000

interface Believed {
  readonly holder: ApiKeyHolder
  readonly read_at: Instant
  readonly until: Instant
}

const holder = ({ key, shop }: { readonly key: ApiKeyRecord; readonly shop: ShopRecord }): ApiKeyHolder => ({
  caller: { shop_id: shop.id, caller_id: key.id, scopes: key.scopes, via: "api" },
  shop
})

/** Tells whose an API key is, from memory where it can (Specification, Keys and scopes). */
export class ApiKeyCache extends Effect.Service<ApiKeyCache>()("@workshop/core/KeyRing", {
  scoped: Effect.gen(function* () {
    const directory = yield* Directory
    const believed = new Map<string, Believed>()
    const used = yield* lastUsedWriter(directory)
    const isSandbox = yield* inSandbox
    /** Counts what was forgotten, so that a look-up begun before does not bring it back. */
    let forgotten = 0

    const lookUp = Effect.fnUntraced(function* (key: string, now: Instant) {
      const before = forgotten
      const found = yield* directory.keyByHash(keyHash(key))
      if (found === null || !isActive(found.key, now)) return null
      const known = holder(found)
      if (before === forgotten) {
        if (believed.size >= MOST_KEYS) believed.clear()
        const until = Math.min(now + BELIEVED_MS, found.key.expires_at ?? Number.POSITIVE_INFINITY)
        believed.set(key, { holder: known, read_at: now, until })
      }
      used(known.caller.caller_id, now)
      return known
    })

    /** Who holds a key, where memory knows it. One read later than now is not believed: a clock stepped back, so its age is not known. */
    const known = (key: string, now: Instant): ApiKeyHolder | undefined => {
      const entry = believed.get(key)
      if (entry === undefined || now < entry.read_at || now >= entry.until) return undefined
      used(entry.holder.caller.caller_id, now)
      return entry.holder
    }

    const forget = (shop_id: ShopId | null) =>
      Effect.sync(() => {
        forgotten++
        for (const [key, { holder }] of believed)
          if (shop_id === null || holder.shop.id === shop_id) believed.delete(key)
      })
    yield* Effect.forkScoped(Stream.runForEach(directory.news, forget))

    /** Whether a key is a sandbox's, which this process is not: it is refused by that name, whether or not it was ever made. */
    const isTestKeyElsewhere = (key: string) => !isSandbox && looksLikeTestKey(key)

    return {
      known,
      /** Whether a key must be looked up that was never found good here. */
      isNew: (key: string): boolean => looksLikeKey(key) && !isTestKeyElsewhere(key) && !believed.has(key),
      isTestKeyElsewhere,
      /** Who holds a key; null where the key is missing, wrong, revoked or expired. Such misses are not remembered. */
      holderOf: (key: string, now: Instant) => {
        const holder = known(key, now)
        if (holder !== undefined) return Effect.succeed(holder)
        return looksLikeKey(key) && !isTestKeyElsewhere(key) ? lookUp(key, now) : Effect.succeed(null)
      },
      /** Forgets the keys of a shop of which something changed; of all shops for null. */
      forget
    }
  })
}) {}
