import { HOUR_MS, type Instant, MINUTE_MS } from "./Instant.js"

/** How long after the end of each failed attempt the next one starts; after the last there is none (Specification, Webhooks). */
export const retryDelays_ms = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS
] as const satisfies ReadonlyArray<number>

/** How often an event is tried in all: at once, and after each delay. */
export const MOST_ATTEMPTS = retryDelays_ms.length + 1

const MOST_JITTER_MS = 5 * MINUTE_MS
const JITTER_SHARE = 0.1

/**
 * When to try again after the `made`th attempt failed at `ended_at`, or null where it was the last. `jitter`, from 0 to 1,
 * puts it off by up to a tenth and never brings it forward; the sandbox gives 0 (Specification, Webhooks).
 */
export const nextAttempt = (made: number, ended_at: Instant, jitter: number): Instant | null => {
  const delay_ms = retryDelays_ms[made - 1]
  return delay_ms === undefined
    ? null
    : ended_at + delay_ms + Math.floor(Math.min(delay_ms * JITTER_SHARE, MOST_JITTER_MS) * jitter)
}
