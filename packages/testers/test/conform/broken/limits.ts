import type { PolicyName } from "@workshop/core"
import type { LimitUse } from "@workshop/core/store"
import type { BrokenServer } from "./BrokenServer.js"

/** Replaces each use that a limit counts; null counts nothing. */
const counting = (count: (take: LimitUse) => LimitUse | null) => () => ({
  limits: { takes: (takes: ReadonlyArray<LimitUse>) => takes.map(count).filter((take) => take !== null) }
})

const without = (...policies: ReadonlyArray<PolicyName>) =>
  counting((take) => (policies.includes(take.policy) ? null : take))

/** Servers with a fault in their limits. */
export const brokenLimits: ReadonlyArray<BrokenServer> = [
  {
    does: "does not count look-ups",
    caughtBy: ["limit-lookups-hour", "limit-lookups-count"],
    fault: without("lookups_per_hour", "lookups_per_day")
  },
  {
    does: "counts look-ups only by the hour",
    caughtBy: ["limit-lookups-day"],
    fault: without("lookups_per_day")
  },
  {
    does: "does not count writes",
    caughtBy: ["limit-writes", "limit-writes-count", "error-retry-after"],
    fault: without("writes_per_minute")
  },
  {
    does: "does not count requests without a key",
    caughtBy: ["limit-unauthenticated"],
    fault: without("unauthenticated_per_minute")
  },
  {
    does: "counts the requests of all keys together",
    caughtBy: ["limit-requests"],
    fault: counting((take) => (take.policy === "requests_per_minute" ? { ...take, subject: "everybody" } : take))
  }
]
