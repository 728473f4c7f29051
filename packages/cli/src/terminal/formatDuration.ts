import { pluralize } from "@workshop/core/internal/terminal"
import { HOUR_MS, MINUTE_MS } from "@workshop/core/store"

/** A length of time in whole hours, minutes or seconds, such as `24 hours`. */
export const formatDuration = (length_ms: number): string => {
  if (length_ms >= HOUR_MS) return pluralize(length_ms / HOUR_MS, "hour")
  return length_ms >= MINUTE_MS ? pluralize(length_ms / MINUTE_MS, "minute") : pluralize(length_ms / 1000, "second")
}
