import type { Instant } from "@workshop/core/domain/Instant"
import { MINUTE_MS } from "@workshop/core/domain/Instant"
import { Policies, type PolicyName } from "@workshop/core/domain/Limits"
import { current, LimitReached, type LimitWindow, usage } from "@workshop/core/domain/LimitWindow"
import type { RateLimits, Take } from "@workshop/core/ports/RateLimits"
import { type Context, Effect } from "effect"

/** A window that is counted in place. */
type Counter = { -readonly [Name in keyof LimitWindow]: LimitWindow[Name] }

const isFull = (counter: Counter, policy: PolicyName): boolean => counter.used >= Policies[policy].limit

/** Counts for one process. Windows that have ended are cleared away once a minute. */
export const memoryRateLimits = (): Context.Tag.Service<RateLimits> => {
  // A map a policy, by subject: a joined key would be a new text to hash for every take.
  const counters = new Map<PolicyName, Map<string, Counter>>()
  let swept_at = 0

  const sweep = (now: Instant) => {
    if (now < swept_at + MINUTE_MS) return
    swept_at = now
    for (const ofPolicy of counters.values())
      for (const [subject, { resets_at }] of ofPolicy) if (now >= resets_at) ofPolicy.delete(subject)
  }
  const known = ({ policy, subject }: Take) => counters.get(policy)?.get(subject)
  const open = (take: Take, now: Instant): Counter => current(known(take), take.policy, now, take.time_zone)
  const count = ({ policy, subject }: Take, counter: Counter) => {
    counter.used++
    const ofPolicy = counters.get(policy)
    if (ofPolicy === undefined) counters.set(policy, new Map([[subject, counter]]))
    else ofPolicy.set(subject, counter)
    return usage(counter, policy)
  }

  return {
    take: (takes, now) =>
      Effect.suspend(() => {
        sweep(now)
        const found = takes.map((take) => open(take, now))
        if (!takes.some(({ policy }, i) => isFull(found[i]!, policy)))
          return Effect.succeed(takes.map((take, i) => count(take, found[i]!)))
        const usages = takes.map(({ policy }, i) => usage(found[i]!, policy))
        return Effect.fail(new LimitReached({ usages: usages.filter(({ remaining }) => remaining === 0) }))
      }),
    giveBack: (takes, taken) =>
      Effect.sync(() => {
        takes.forEach((take, i) => {
          const counter = known(take)
          if (counter !== undefined && counter.resets_at === taken[i]?.resets_at) counter.used--
        })
      }),
    look: (take, now) => Effect.sync(() => usage(open(take, now), take.policy))
  }
}
