import { DAY_MS } from "@workshop/core"

/** How long events and their attempts are kept by default. */
export const KEEP_EVENTS_MS = 90 * DAY_MS

/** How long at least: beyond the last attempt of every delivery, and the days in which a shop asks what happened. */
export const LEAST_KEPT_MS = 7 * DAY_MS
