import { type Context, Effect } from "effect"
import type { Instant } from "../domain/Instant.js"
import { defaultLimits, type LimitsByPolicy, type PolicyName } from "../domain/Limits.js"
import {
  currentWindow,
  hasRoom,
  LimitReached,
  type LimitStatus,
  type LimitUse,
  type LimitWindow,
  limitStatus
} from "../domain/LimitWindow.js"
import { PolicyLimits } from "../ports/PolicyLimits.js"
import { RateLimits } from "../ports/StorePorts.js"

type Counts = Context.Tag.Service<RateLimits>

/** How many windows of a policy a process remembers. Beyond that it forgets the oldest. */
const MOST_WINDOWS = 10_000

/** The counts of limits, as far as a process knows them. */
export interface ExhaustedLimits extends Pick<Counts, "take" | "giveBack"> {
  /** The status of a limit as far as this process knows it, without asking the store. */
  readonly look: (use: LimitUse, now: Instant) => LimitStatus
  /** Forgets everything, because the store did. */
  readonly forget: () => void
}

/**
 * Remembers limits that are used up until they reset, so that further refusals do not ask the store. It also remembers the limit of
 * every address without a valid key, so that responses that count nowhere can show it. A use that another process gave back
 * meanwhile is not seen, so that a refusal may last until the reset that it names.
 */
const remembering = (limits: Counts, bounds: LimitsByPolicy): ExhaustedLimits => {
  /** Without the uses of lifted policies. */
  const bounded = (uses: ReadonlyArray<LimitUse>): ReadonlyArray<LimitUse> =>
    bounds === defaultLimits
      ? uses
      : uses.flatMap((use) => {
          const limit = bounds[use.policy]
          return limit === Number.POSITIVE_INFINITY ? [] : [{ ...use, limit }]
        })
  const known = new Map<PolicyName, Map<string, LimitWindow>>()

  const note = (uses: ReadonlyArray<LimitUse>, statuses: ReadonlyArray<LimitStatus>) => {
    for (const { policy, limit, remaining, resets_at } of statuses) {
      if (remaining > 0 && policy !== "unauthenticated_per_minute") continue
      const subject = uses.find((use) => use.policy === policy)?.subject
      if (subject === undefined) continue
      const windows = known.get(policy) ?? new Map<string, LimitWindow>()
      known.set(policy, windows)
      windows.delete(subject)
      for (const oldest of windows.keys()) {
        if (windows.size < MOST_WINDOWS) break
        windows.delete(oldest)
      }
      windows.set(subject, { used: limit - remaining, resets_at })
    }
  }

  const windowOf = ({ policy, subject, time_zone }: LimitUse, now: Instant): LimitWindow =>
    currentWindow(known.get(policy)?.get(subject), policy, now, time_zone)

  const refusalOf = (uses: ReadonlyArray<LimitUse>, now: Instant): LimitReached | undefined => {
    const usages: Array<LimitStatus> = []
    for (const use of uses) {
      if (known.get(use.policy)?.has(use.subject) !== true) continue
      const window = windowOf(use, now)
      if (!hasRoom(window, use.policy, 1, use.limit)) usages.push(limitStatus(window, use.policy, use.limit))
    }
    return usages.length === 0 ? undefined : new LimitReached({ usages })
  }

  return {
    take: (requested, now) => {
      const uses = bounded(requested)
      const refusal = refusalOf(uses, now)
      if (refusal !== undefined) return Effect.fail(refusal)
      return Effect.mapBoth(limits.take(uses, now), {
        onSuccess: (usages) => {
          note(uses, usages)
          return usages
        },
        onFailure: (failure) => {
          if (failure._tag === "LimitReached") note(uses, failure.usages)
          return failure
        }
      })
    },
    giveBack: (requested, statuses) => {
      const uses = bounded(requested)
      return Effect.map(limits.giveBack(uses, statuses), () => {
        for (const { policy, subject } of uses) known.get(policy)?.delete(subject)
      })
    },
    look: (use, now) => limitStatus(windowOf(use, now), use.policy, bounds[use.policy]),
    forget: () => known.clear()
  }
}

const made = new WeakMap<Counts, ExhaustedLimits>()

/** The memory of the counts: the same one for all callers of a process. */
export const exhaustedLimits: Effect.Effect<ExhaustedLimits, never, RateLimits> = Effect.gen(function* () {
  const limits = yield* RateLimits
  const found = made.get(limits) ?? remembering(limits, yield* PolicyLimits)
  made.set(limits, found)
  return found
})
