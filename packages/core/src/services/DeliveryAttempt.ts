import { Effect, Schedule } from "effect"
import { recordAttempt, recordSuperseded } from "../decisions/recordAttempt.js"
import { acknowledges, type Sent } from "../domain/Attempt.js"
import type { Instant } from "../domain/Instant.js"
import { signatureHeader, signingSecrets } from "../domain/Signature.js"
import type { Claim } from "../ports/Deliveries.js"
import { Entropy } from "../ports/Entropy.js"
import { readClock } from "../ports/readClock.js"
import { Store } from "../ports/Store.js"
import { isOwnHeader, WebhookSender } from "../ports/WebhookSender.js"
import { attemptsEnded } from "./ServiceMetrics.js"

/** How attempts are made. */
export interface AttemptOptions {
  /** The name of the header that carries the signature. */
  readonly signatureHeader: string
  /** Puts retries off by up to a tenth, so that many do not come at once; the sandbox does without (Specification, Webhooks). */
  readonly isJittered: boolean
}

/** How the result of an attempt is recorded: for about as long as its claim holds, because a later record changes nothing. */
const RECORDING = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(6))
const FIRST_RETRY = "50 millis"

/** One attempt: signs, sends and records. If it cannot be recorded, its lease ends, and the delivery is made again under the same event id. */
export const makeAttempt = ({ signatureHeader: header, isJittered }: AttemptOptions) =>
  Effect.gen(function* () {
    if (!isOwnHeader(header))
      return yield* Effect.dieMessage(
        `signatureHeader must be the name of a header of its own, which "${header}" is not`
      )
    const store = yield* Store
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const record = ({ shop_id, event_id, token, webhook: { url } }: Claim, started_at: Instant, sent: Sent) => {
      const jitter = isJittered && !acknowledges(sent) ? entropy.bytes(1)[0]! / 256 : 0
      const attempted = { event_id, token, url, started_at, sent, jitter }
      const recording = Effect.flatMap(store.transact(recordAttempt(shop_id, attempted)), (outcome) =>
        outcome.answer === "superseded" ? store.transact(recordSuperseded(shop_id, attempted)) : Effect.succeed(outcome)
      )
      // The first try goes without a schedule, which costs time.
      return recording.pipe(
        Effect.catchAll(() => Effect.delay(Effect.retry(recording, RECORDING), FIRST_RETRY)),
        Effect.map(({ answer }) => attemptsEnded[answer].unsafeUpdate(1, []))
      )
    }
    const attempt = (claim: Claim) =>
      readClock((clock) => {
        const { shop_id, webhook, body } = claim
        const started_at = clock.unsafeCurrentTimeMillis()
        const signature = signatureHeader(body, signingSecrets(webhook, started_at), started_at)
        const sending = sender.send({ shop_id, url: webhook.url, headers: { [header]: signature }, body })
        return Effect.flatMap(sending, (sent) => record(claim, started_at, sent))
      })
    return (claim: Claim) =>
      Effect.catchAllCause(attempt(claim), (cause) =>
        Effect.logWarning("A delivery was not recorded and will be made again", cause)
      )
  })
