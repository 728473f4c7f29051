import type { Instant } from "./Instant.js"
import { retryDelays_ms, ServiceLimits } from "./Limits.js"

const { retry_jitter_share, retry_jitter_max_ms } = ServiceLimits

/**
 * When to try again after the `made`th attempt failed at `ended_at`, or null where it was the last. `jitter`, from 0 to 1,
 * puts it off by up to a tenth and never brings it forward; the sandbox gives 0 (Specification, Webhooks).
 */
export const nextAttempt = (made: number, ended_at: Instant, jitter: number): Instant | null => {
  const delay_ms = retryDelays_ms[made - 1]
  return delay_ms === undefined
    ? null
    : ended_at + delay_ms + Math.floor(Math.min(delay_ms * retry_jitter_share, retry_jitter_max_ms) * jitter)
}
