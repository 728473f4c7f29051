import { type AttemptRecord, type NoticeRecord, toIso, toIsoOrNull } from "@workshop/core"
import type { LoggedDelivery } from "@workshop/core/store"

const attemptView = ({ n, started_at, status, error, detail, address, timings, head }: AttemptRecord) => {
  const { total_ms, ...stages } = timings
  return {
    n,
    started_at: toIso(started_at),
    duration_ms: total_ms,
    status,
    error,
    detail,
    address,
    timings: stages,
    head
  }
}

/** A delivery as its owner reads it, with the whole log of its attempts (Specification, Webhooks; Sandbox). */
export const deliveryView = ({ event_id, type, state, next_attempt_at, attempts }: LoggedDelivery) => ({
  event_id,
  type,
  state,
  next_attempt_at: toIsoOrNull(next_attempt_at),
  attempts: attempts.map(attemptView)
})

/** What the owner was told, as they read it. */
export const noticeView = ({ kind, created_at, url, off_reason, failures_in_row, first_failure_at }: NoticeRecord) => ({
  kind,
  created_at: toIso(created_at),
  url,
  off_reason,
  failures_in_row,
  first_failure_at: toIsoOrNull(first_failure_at)
})
