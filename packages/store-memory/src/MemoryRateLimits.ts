import { type Instant, MINUTE_MS, type PolicyName } from "@workshop/core"
import {
  giveBackUses,
  type LimitWindow,
  type LimitWindows,
  peekLimit,
  type RateLimits,
  useLimits
} from "@workshop/core/store"
import { type Context, Effect } from "effect"

/** How many windows of a policy are kept. Beyond that the oldest goes: its subject begins anew. */
const MOST_WINDOWS = 100_000

/** Counts for one process. Windows that have ended are cleared away once a minute. */
export const memoryRateLimits = (most = MOST_WINDOWS): Context.Tag.Service<RateLimits> => {
  // A map a policy, by subject: a joined key would be a new text to hash for every take.
  const kept = new Map<PolicyName, Map<string, LimitWindow>>()
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
      if (ofPolicy.size <= most) return
      for (const oldest of ofPolicy.keys()) {
        if (ofPolicy.size <= most) break
        ofPolicy.delete(oldest)
      }
    }
  }

  return {
    take: (takes, now) =>
      Effect.suspend(() => {
        sweep(now)
        return useLimits(windows, takes, now)
      }),
    giveBack: (takes, taken) => Effect.sync(() => giveBackUses(windows, takes, taken)),
    look: (one, now) => Effect.sync(() => peekLimit(windows, one, now))
  }
}
