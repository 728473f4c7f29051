import { type Sent, saysGone } from "./Attempt.js"
import { HOUR_MS, type Instant } from "./Instant.js"
import type { NoticeKind } from "./Notice.js"
import type { Webhook } from "./Webhook.js"

/**
 * How long and how often a webhook may fail in a row before the owner is warned, warned again, and it turns off:
 * both numbers of a row must be reached (Specification, Webhooks).
 */
export const failureSteps = [
  { failures: 7, age_ms: 24 * HOUR_MS, kind: "webhook_failing" },
  { failures: 14, age_ms: 48 * HOUR_MS, kind: "webhook_failing" },
  { failures: 20, age_ms: 72 * HOUR_MS, kind: "webhook_off" }
] as const satisfies ReadonlyArray<{ readonly failures: number; readonly age_ms: number; readonly kind: NoticeKind }>

/** The webhook after an attempt, and what its owner has to be told, if anything. */
export interface HealthChange {
  readonly webhook: Webhook
  readonly told: NoticeKind | null
}

/** The webhook after one more failure in a row. A 410 turns it off at once. One that is off already stays as it is. */
export const onFailure = (webhook: Webhook, sent: Sent, now: Instant): HealthChange => {
  // One that is yet to come was dated by a clock that was ahead.
  const first_failure_at = Math.min(webhook.first_failure_at ?? now, now)
  const failing = { ...webhook, failures_in_row: webhook.failures_in_row + 1, first_failure_at }
  if (webhook.off_reason !== null) return { webhook: failing, told: null }
  if (saysGone(sent)) return { webhook: { ...failing, off_reason: "gone" }, told: "webhook_off" }
  const reached = failureSteps.filter(
    ({ failures, age_ms }) => failing.failures_in_row >= failures && now - first_failure_at >= age_ms
  )
  const step = reached.at(-1)
  if (step === undefined || reached.length <= webhook.steps_told) return { webhook: failing, told: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, steps_told: reached.length, off_reason }, told: step.kind }
}

/** The webhook after a success: no failures to its name. The same object where there were none, so nothing need be written. */
export const onSuccess = (webhook: Webhook): Webhook =>
  webhook.failures_in_row === 0 ? webhook : { ...webhook, failures_in_row: 0, first_failure_at: null, steps_told: 0 }
