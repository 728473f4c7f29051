import type { Instant } from "@workshop/core"
import { giveBackUses, type LimitWindows, MINUTE_MS, peekLimit, type RateLimits, takeEach } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"

/**
 * The maximum number of windows of a policy. Beyond it, the oldest window is removed, so its subject counts from 0
 * again.
 */
const MAX_WINDOWS = 100_000

/** The port for rate limits. Expired windows are removed once a minute. */
export const memoryRateLimits = (memory: Memory, max = MAX_WINDOWS): Context.Tag.Service<RateLimits> => {
  const kept = memory.limitWindows
  let swept_at = 0

  const sweep = (now: Instant) => {
    if (now >= swept_at && now < swept_at + MINUTE_MS) return
    swept_at = now
    for (const ofPolicy of kept.values())
      for (const [subject, { resets_at }] of ofPolicy) if (now >= resets_at) ofPolicy.delete(subject)
  }
  const windows: LimitWindows = {
    get: ({ policy, subject }) => kept.get(policy)?.get(subject),
    put: ({ policy, subject }, window) => {
      const ofPolicy = kept.get(policy)
      if (ofPolicy === undefined) {
        kept.set(policy, new Map([[subject, window]]))
        return
      }
      ofPolicy.set(subject, window)
      if (ofPolicy.size <= max) return
      for (const oldest of ofPolicy.keys()) {
        if (ofPolicy.size <= max) break
        ofPolicy.delete(oldest)
      }
    }
  }

  return {
    take: (uses, now) =>
      Effect.suspend(() => {
        sweep(now)
        return takeEach(windows, uses, now)
      }),
    giveBack: (uses, limitStatuses) => Effect.sync(() => giveBackUses(windows, uses, limitStatuses)),
    peek: (one, now) => Effect.sync(() => peekLimit(windows, one, now))
  }
}
