import { type AttemptRecord, type DeliveryRecord, nextAttempt, presentSchedule } from "../domain/Delivery.js"
import type { EventId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import {
  acknowledges,
  type HealthChange,
  type HealthTransition,
  healthTransition,
  isGone,
  isWebhookOn,
  type NoticeKind,
  type NoticeRecord,
  recordFailure,
  recordSuccess,
  type SendResult,
  type Webhook
} from "../domain/Webhook.js"
import { type ChangeSet, toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/** A finished attempt. */
export interface FinishedAttempt {
  readonly event_id: EventId
  /** The claim under which the attempt was made. */
  readonly token: number
  /** The URL to which the event was sent; the webhook's URL may have changed since the claim. */
  readonly url: string
  readonly started_at: Instant
  readonly sent: SendResult
  /** The jitter of the next attempt, as a share of the largest possible one, from 0 to 1. */
  readonly jitter: number
}

/**
 * The result for the delivery. `superseded` means that another claim has replaced this one, so nothing changed: see
 * {@link recordSuperseded}.
 */
export type AttemptOutcome = "delivered" | "retry" | "parked" | "dead" | "superseded"

/** The result of a recorded attempt, for its delivery and for its webhook. */
export interface RecordedAttempt {
  readonly outcome: AttemptOutcome
  /** Whether the webhook's consecutive failures began or ended with the attempt. */
  readonly transition: HealthTransition | null
}

const SUPERSEDED: RecordedAttempt = { outcome: "superseded", transition: null }

/** The webhook's health after an attempt. An attempt to another URL changes nothing. */
const healthAfter = (webhook: Webhook, { url, sent }: FinishedAttempt, now: Instant): HealthChange => {
  if (url !== webhook.url) return { webhook, notice: null }
  return acknowledges(sent) ? { webhook: recordSuccess(webhook), notice: null } : recordFailure(webhook, sent, now)
}

/**
 * Records an attempt: the event was delivered, is retried after its delay, or is given up. The webhook's consecutive
 * failures increase or end, and the owner is warned before the webhook turns off (Specification, Webhooks).
 */
export const recordAttempt = (shop_id: ShopId, attempt: FinishedAttempt): Command<RecordedAttempt> =>
  makeCommand(shop_id, { delivery: Load.delivery(attempt.event_id, attempt.token) }, (loaded, changes, moment) => {
    const { delivery, webhook } = loaded
    if (delivery === null || webhook === null) return toUnchangedDecision(SUPERSEDED)
    const { now } = moment
    const { event_id, sent } = attempt
    const n = delivery.attempts_made + 1
    const after = logAttempt(changes, webhook, attempt, { n, now })
    const resultOf = (outcome: AttemptOutcome): RecordedAttempt => ({
      outcome,
      transition: healthTransition(webhook, after)
    })
    if (acknowledges(sent)) {
      changes.add({ _tag: "DeliveryRemoved", row: { shop_id, event_id } })
      return changes.toDecisionWithoutHead(resultOf("delivered"))
    }
    const attempts_since_reset = presentSchedule(delivery, webhook).attempts_since_reset + 1
    // After a 410 the delivery is parked until the webhook is on again, even after its last attempt.
    const due_at = nextAttempt(attempts_since_reset, now, attempt.jitter) ?? (isGone(sent) ? now : null)
    if (due_at === null) {
      changes.add({ _tag: "DeliveryRemoved", row: { shop_id, event_id } })
      return changes.toDecision(resultOf("dead"))
    }
    const next: DeliveryRecord = {
      ...delivery,
      attempts_made: n,
      attempts_since_reset,
      due_at,
      generation: webhook.generation,
      // If the store's response to this record is lost, the record is repeated. Because of the new token, the
      // repetition then counts as superseded.
      token: delivery.token + 1
    }
    changes.add({ _tag: "DeliveryPut", row: next })
    return changes.toDecision(resultOf(isWebhookOn(after) ? "retry" : "parked"))
  })

/** Logs an attempt and updates the webhook's health; returns the webhook as it is afterwards. */
const logAttempt = (
  changes: ChangeSet,
  webhook: Webhook,
  attempted: FinishedAttempt,
  { n, now }: { readonly n: number; readonly now: Instant }
): Webhook => {
  const { event_id, started_at, sent } = attempted
  changes.add({ _tag: "AttemptAppended", row: { shop_id: webhook.shop_id, event_id, n, started_at, ...sent } })
  const { webhook: after, notice } = healthAfter(webhook, attempted, now)
  if (after !== webhook) changes.add({ _tag: "WebhookPut", row: after })
  if (notice !== null) changes.notifyOwner(noticeOf(notice, after))
  return after
}

/**
 * Records an attempt that another claim has superseded, or whose delivery no longer exists. The attempt is logged and
 * counts for the webhook's health, but the delivery does not change (Specification, Webhooks). If the log already has
 * the attempt, nothing changes.
 */
export const recordSuperseded = (shop_id: ShopId, attempted: FinishedAttempt): Command<RecordedAttempt> =>
  makeCommand(shop_id, { attempts: Load.attempts(attempted.event_id) }, (loaded, changes, moment) => {
    const { attempts, webhook } = loaded
    if (webhook === null || attempts.some((attempt) => isSameAttempt(attempt, attempted)))
      return toUnchangedDecision(SUPERSEDED)
    // The attempt gets the number of the previous attempt, because it used up none of the delivery's numbered attempts.
    const n = Math.max(1, ...attempts.filter((attempt) => attempt.started_at < attempted.started_at).map(({ n }) => n))
    const after = logAttempt(
      changes,
      webhook,
      { ...attempted, started_at: attemptStartFor(attempts, attempted, n, moment.now) },
      { n, now: moment.now }
    )
    return changes.toDecision<RecordedAttempt>({ outcome: "superseded", transition: healthTransition(webhook, after) })
  })

/** Whether an attempt is in the log already, possibly with a slightly earlier start: see {@link attemptStartFor}. */
const isSameAttempt = (logged: AttemptRecord, { started_at, sent }: FinishedAttempt): boolean =>
  logged.started_at <= started_at &&
  logged.started_at > started_at - SAME_MS &&
  logged.status === sent.status &&
  logged.error === sent.error &&
  JSON.stringify(logged.timings) === JSON.stringify(sent.timings)

/** The maximum difference between an attempt's start and its logged start, in milliseconds. */
const SAME_MS = 10

/**
 * The logged start of an overtaken attempt. In the log, a number and a start identify an attempt. While a sandbox's
 * clock is frozen, the attempt that overtook this one has the same start, so the log gives this earlier attempt a start
 * one millisecond before.
 */
const attemptStartFor = (
  attempts: ReadonlyArray<AttemptRecord>,
  { started_at }: FinishedAttempt,
  n: number,
  now: Instant
): Instant => {
  const isTaken = (at: Instant) => attempts.some((attempt) => attempt.n === n && attempt.started_at === at)
  let at = now <= started_at && n === 1 ? started_at - 1 : started_at
  while (isTaken(at)) at--
  return at
}

const noticeOf = (kind: NoticeKind, webhook: Webhook): Omit<NoticeRecord, "shop_id" | "id" | "created_at"> => ({
  kind,
  url: webhook.url,
  off_reason: webhook.off_reason,
  failures_in_row: webhook.failures_in_row,
  first_failure_at: webhook.first_failure_at
})
