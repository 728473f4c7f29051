import { Context, Effect, Layer } from "effect"
import type { Instant } from "../domain/Instant.js"
import { defaultLimits, type LimitsByPolicy, type PolicyName, ServiceLimits } from "../domain/Limits.js"
import {
  currentWindow,
  hasRoom,
  LimitReached,
  type LimitStatus,
  type LimitUse,
  type LimitWindow,
  limitStatusOf
} from "../domain/LimitWindow.js"
import { toCountedAddress } from "../domain/PublicAddress.js"
import { PolicyLimits } from "../ports/PolicyLimits.js"
import { RateLimits } from "../ports/StorePorts.js"

/** The limit of a request without a valid key, by its address. */
export const addressUseOf = ({ address }: { readonly address: string }): LimitUse => ({
  policy: "unauthenticated_per_minute",
  subject: toCountedAddress(address),
  time_zone: null
})

type LimitStore = Context.Tag.Service<RateLimits>

interface CachedLimitStore extends Pick<LimitStore, "take" | "giveBack"> {
  /** The status of a limit in this process's cache, without a query of the store. */
  readonly peek: (use: LimitUse, now: Instant) => LimitStatus
  /** Empties the cache, because the store was emptied. */
  readonly discard: () => void
}

const make = (store: LimitStore, bounds: LimitsByPolicy): CachedLimitStore => {
  /** Adds the embedder's limits to the uses, and leaves out uses of a policy without a limit. */
  const withBounds = (uses: ReadonlyArray<LimitUse>): ReadonlyArray<LimitUse> =>
    bounds === defaultLimits
      ? uses
      : uses.flatMap((use) => {
          const limit = bounds[use.policy]
          return limit === Number.POSITIVE_INFINITY ? [] : [{ ...use, limit }]
        })
  const rememberedWindows = new Map<PolicyName, Map<string, LimitWindow>>()

  const remember = (uses: ReadonlyArray<LimitUse>, limitStatuses: ReadonlyArray<LimitStatus>) => {
    for (const { policy, limit, remaining, resets_at } of limitStatuses) {
      if (remaining > 0 && policy !== "unauthenticated_per_minute") continue
      const subject = uses.find((use) => use.policy === policy)?.subject
      if (subject === undefined) continue
      const windows = rememberedWindows.get(policy) ?? new Map<string, LimitWindow>()
      rememberedWindows.set(policy, windows)
      windows.delete(subject)
      for (const oldest of windows.keys()) {
        if (windows.size < ServiceLimits.used_up_windows) break
        windows.delete(oldest)
      }
      windows.set(subject, { used: limit - remaining, resets_at })
    }
  }

  const windowOf = ({ policy, subject, time_zone }: LimitUse, now: Instant): LimitWindow =>
    currentWindow(rememberedWindows.get(policy)?.get(subject), policy, now, time_zone)

  const findKnownRefusal = (uses: ReadonlyArray<LimitUse>, now: Instant): LimitReached | undefined => {
    const limitStatuses: Array<LimitStatus> = []
    for (const use of uses) {
      if (rememberedWindows.get(use.policy)?.has(use.subject) !== true) continue
      const window = windowOf(use, now)
      if (!hasRoom(window, use.policy, 1, use.limit)) limitStatuses.push(limitStatusOf(window, use.policy, use.limit))
    }
    return limitStatuses.length === 0 ? undefined : new LimitReached({ limitStatuses, refused_at: now })
  }

  return {
    take: (requestedUses, now) => {
      const uses = withBounds(requestedUses)
      const refusal = findKnownRefusal(uses, now)
      if (refusal !== undefined) return Effect.fail(refusal)
      return Effect.mapBoth(store.take(uses, now), {
        onSuccess: (limitStatuses) => {
          remember(uses, limitStatuses)
          return limitStatuses
        },
        onFailure: (failure) => {
          if (failure._tag === "LimitReached") remember(uses, failure.limitStatuses)
          return failure
        }
      })
    },
    giveBack: (requestedUses, limitStatuses) => {
      const uses = withBounds(requestedUses)
      return Effect.map(store.giveBack(uses, limitStatuses), () => {
        for (const { policy, subject } of uses) rememberedWindows.get(policy)?.delete(subject)
      })
    },
    peek: (use, now) => limitStatusOf(windowOf(use, now), use.policy, bounds[use.policy]),
    discard: () => rememberedWindows.clear()
  }
}

/**
 * The rate limits of the store, behind a cache that all groups of routes share. It caches used-up limits until they
 * reset, so that further refusals need no query. It also caches the limit of every address without a valid key, so that
 * responses that count against no limit can show it. If another process gives back a use, this cache does not notice,
 * and may refuse requests until the reset.
 */
export class CachedRateLimits extends Context.Tag("@workshop/core/CachedRateLimits")<
  CachedRateLimits,
  CachedLimitStore
>() {
  /** A cache over the store's rate limits, with the bounds of {@link PolicyLimits}. */
  static readonly layer: Layer.Layer<CachedRateLimits, never, RateLimits> = Layer.effect(
    CachedRateLimits,
    Effect.zipWith(RateLimits, PolicyLimits, make)
  )
}
