import { Clock, type Context, Effect, FiberSet, type Scope, Stream } from "effect"
import { type ApiKeyRecord, hashKey, isActive, looksLikeKey, looksLikeTestKey } from "../domain/ApiKey.js"
import type { KeyId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { ShopRecord } from "../domain/Shop.js"
import { Directory } from "../ports/StorePorts.js"
import { TestKeys } from "../ports/TestKeys.js"
import type { Caller } from "./Caller.js"
import { inSandbox } from "./clock/ClockAdvance.js"

const { key_use_every_ms, key_use_batch_ms } = ServiceLimits

const NEVER: Instant = Number.NEGATIVE_INFINITY

/** A key, and the time of the last record of its use. */
interface KeyUse {
  readonly id: KeyId
  noted_at: Instant
}

/** Records the uses of keys. */
interface LastUsedWriter {
  /** Returns the record of a key's last use, which concurrent callers share. */
  readonly useOf: (id: KeyId) => KeyUse
  /** Records that a key is used now. */
  readonly record: (use: KeyUse, now: Instant) => void
}

/**
 * Writes when keys were last used: at most once a minute for each key, several keys in one write, and never while the request waits. If a
 * write fails, the key's next use is written.
 */
export const makeLastUsedWriter = (
  directory: Context.Tag.Service<Directory>
): Effect.Effect<LastUsedWriter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = yield* FiberSet.makeRuntime<never>()
    const usesById = new Map<KeyId, KeyUse>()
    let waitingUses = new Map<KeyId, Instant>()

    const writeUses = Effect.suspend(() => {
      const uses = waitingUses
      waitingUses = new Map()
      return Effect.catchAll(directory.keysUsed(uses), (unavailable) => {
        for (const id of uses.keys()) {
          const use = usesById.get(id)
          if (use !== undefined) use.noted_at = NEVER
        }
        return Effect.logDebug("The times at which API keys were last used could not be written", unavailable)
      })
    })

    const writeLater = Effect.zipRight(Effect.withClock(Effect.sleep(key_use_batch_ms), Clock.make()), writeUses)
    yield* Effect.addFinalizer(() => (waitingUses.size > 0 ? writeUses : Effect.void))

    return {
      useOf: (id) => {
        const existingUse = usesById.get(id)
        if (existingUse !== undefined) return existingUse
        if (usesById.size >= api_key_cache_size) usesById.clear()
        const use = { id, noted_at: NEVER }
        usesById.set(id, use)
        return use
      },
      record: (use, now) => {
        if (now >= use.noted_at && now < use.noted_at + key_use_every_ms) return
        use.noted_at = now
        waitingUses.set(use.id, now)
        // The first waiting use starts one write for all uses that wait by then.
        if (waitingUses.size === 1) fork(writeLater)
      }
    }
  })

/** A valid key: its caller, and its shop as it was when the key was read. */
export interface ApiKeyHolder {
  readonly caller: Caller
  readonly shop: ShopRecord
}

const { api_key_cache_ms, api_key_cache_size } = ServiceLimits

interface CachedKey {
  readonly holder: ApiKeyHolder
  readonly use: KeyUse
  readonly read_at: Instant
  readonly until: Instant
}

const toHolder = ({ key, shop }: { readonly key: ApiKeyRecord; readonly shop: ShopRecord }): ApiKeyHolder => ({
  caller: { shop_id: shop.id, caller_id: key.id, scopes: key.scopes, via: "api" },
  shop
})

/** Finds the holder of an API key, in the cache if possible (Specification, Keys and scopes). */
export class ApiKeyCache extends Effect.Service<ApiKeyCache>()("@workshop/core/ApiKeyCache", {
  scoped: Effect.gen(function* () {
    const directory = yield* Directory
    const cached = new Map<string, CachedKey>()
    const lastUsed = yield* makeLastUsedWriter(directory)
    const acceptsTestKeys = (yield* inSandbox) || (yield* TestKeys)
    /** Counts invalidations, so that a look-up that began before an invalidation does not cache its result. */
    let invalidations = 0

    const lookUp = Effect.fnUntraced(function* lookUp(key: string, now: Instant) {
      const invalidationsBefore = invalidations
      const stored = yield* directory.keyByHash(hashKey(key))
      if (stored === null || !isActive(stored.key, now)) return null
      const keyHolder = toHolder(stored)
      const use = lastUsed.useOf(stored.key.id)
      lastUsed.record(use, now)
      if (invalidationsBefore === invalidations) {
        if (cached.size >= api_key_cache_size) cached.clear()
        const until = Math.min(now + api_key_cache_ms, stored.key.expires_at ?? Number.POSITIVE_INFINITY)
        cached.set(key, { holder: keyHolder, use, read_at: now, until })
      }
      return keyHolder
    })

    /**
     * The holder of a key, from the cache. An entry that was read at a future time is not used, because the clock was
     * set back since and the entry's age is unknown.
     */
    const cachedHolder = (key: string, now: Instant): ApiKeyHolder | undefined => {
      const entry = cached.get(key)
      if (entry === undefined || now < entry.read_at || now >= entry.until) return undefined
      lastUsed.record(entry.use, now)
      return entry.holder
    }

    const discard = (shop_id: ShopId | null) =>
      Effect.sync(() => {
        invalidations++
        for (const [key, { holder }] of cached) if (shop_id === null || holder.shop.id === shop_id) cached.delete(key)
      })
    yield* Effect.forkScoped(Stream.runForEach(directory.changedShops, discard))

    /**
     * Whether the key has the form of a test key in a process that is neither a sandbox nor a test. The refusal of such
     * a key has its own reason, even if the key does not exist.
     */
    const isUnacceptedTestKey = (key: string) => !acceptsTestKeys && looksLikeTestKey(key)

    return {
      cachedHolder,
      /** Whether the key needs a look-up because this process has not cached it. */
      isNew: (key: string): boolean => looksLikeKey(key) && !isUnacceptedTestKey(key) && !cached.has(key),
      isTestKeyElsewhere: isUnacceptedTestKey,
      /** The holder of a key; null if the key is missing, wrong, revoked or expired. Such results are not cached. */
      holderOf: (key: string, now: Instant) => {
        const holder = cachedHolder(key, now)
        if (holder !== undefined) return Effect.succeed(holder)
        return looksLikeKey(key) && !isUnacceptedTestKey(key) ? lookUp(key, now) : Effect.succeed(null)
      },
      /** Removes the keys of a shop that changed from the cache; for null, the keys of all shops. */
      forget: discard
    }
  })
}) {}
