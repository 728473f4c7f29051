import { Effect, Schedule } from "effect"
import { type FinishedAttempt, recordAttempt, recordSuperseded } from "../../decisions/recordAttempt.js"
import type { ShopId } from "../../domain/Identifier.js"
import type { Instant } from "../../domain/Instant.js"
import { signatureHeader, signingSecrets } from "../../domain/Signature.js"
import {
  acknowledges,
  type HealthTransition,
  hostOf,
  isGone,
  type SendResult,
  sendErrors
} from "../../domain/Webhook.js"
import { Entropy } from "../../ports/Entropy.js"
import { type Claim, Store } from "../../ports/StorePorts.js"
import { WebhookSender } from "../../ports/WebhookSender.js"
import { attemptsEnded } from "../observe/ServiceMetrics.js"

const causeOf = (sent: SendResult): string => {
  const { status, error } = sent
  if (status !== null) return `the receiver responded ${status}${isGone(sent) ? ", which turns the webhook off" : ""}`
  return error === null ? "no response arrived" : sendErrors[error]
}

/**
 * Logs that the deliveries of a webhook begin to fail, or succeed again. The stored count of failures decides which
 * attempt logs it.
 */
const logTransition = (
  transition: HealthTransition,
  { url, sent }: FinishedAttempt,
  shop_id: ShopId
): Effect.Effect<void> => {
  const { status, error } = sent
  const host = hostOf(url)
  const line =
    transition === "recovered"
      ? Effect.logInfo(
          `Deliveries to ${host} succeed again. Events whose delivery failed are sent again at their scheduled times, so they may arrive after later events`
        )
      : Effect.logWarning(
          `Deliveries to ${host} began to fail: ${causeOf(sent)}. To see the attempts, call deliveries.list, or run workshop webhook deliveries ${shop_id}`
        )
  return Effect.annotateLogs(line, { shop_id, host, ...(status === null ? { error } : { status }) })
}

/** How attempts are made. */
export interface AttemptOptions {
  /** The name of the header that carries the signature. */
  readonly signatureHeader: string
  /** Adds jitter of up to a tenth to retries, so that they do not all start at once; the sandbox has none (Specification, Webhooks). */
  readonly isJittered: boolean
}

/**
 * A failed record of a result is retried for about as long as its claim is valid, because a later record would change
 * nothing.
 */
const RECORD_RETRIES = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(6))
const FIRST_RETRY = "50 millis"

/**
 * One attempt: signs, sends and records. If the result cannot be recorded, the lease ends, and the delivery is
 * attempted again with the same event id.
 */
export const makeAttempt = ({ signatureHeader: header, isJittered }: AttemptOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const record = ({ shop_id, event_id, token, webhook: { url } }: Claim, started_at: Instant, sent: SendResult) => {
      const jitter = isJittered && !acknowledges(sent) ? entropy.bytes(1)[0]! / 256 : 0
      const attempted = { event_id, token, url, started_at, sent, jitter }
      const recording = Effect.flatMap(store.transact(recordAttempt(shop_id, attempted)), (recorded) =>
        recorded.result.outcome === "superseded"
          ? store.transact(recordSuperseded(shop_id, attempted))
          : Effect.succeed(recorded)
      )
      // The first try runs without a schedule, because a schedule costs time.
      return recording.pipe(
        Effect.catchAll(() => Effect.delay(Effect.retry(recording, RECORD_RETRIES), FIRST_RETRY)),
        Effect.flatMap(({ result: { outcome, transition } }) => {
          attemptsEnded[outcome].unsafeUpdate(1, [])
          return transition === null ? Effect.void : logTransition(transition, attempted, shop_id)
        })
      )
    }
    const attempt = (claim: Claim) =>
      Effect.clockWith((clock) => {
        const { shop_id, webhook, body } = claim
        const started_at = clock.unsafeCurrentTimeMillis()
        const signature = signatureHeader(body, signingSecrets(webhook, started_at), started_at)
        const sending = sender.send({ shop_id, url: webhook.url, headers: { [header]: signature }, body })
        return Effect.flatMap(sending, (sent) => record(claim, started_at, sent))
      })
    return (claim: Claim) =>
      Effect.catchAllCause(attempt(claim), (cause) =>
        Effect.logWarning("The result of a delivery could not be recorded, so the event will be sent again", cause)
      )
  })
