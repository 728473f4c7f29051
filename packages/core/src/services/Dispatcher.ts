import { Context, Effect, Layer, Schedule } from "effect"
import { recordAttempt } from "../decisions/recordAttempt.js"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { Instant } from "../domain/Instant.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../domain/Signature.js"
import { type Claim, Deliveries } from "../ports/Deliveries.js"
import { Entropy } from "../ports/Entropy.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import { WebhookSender } from "../ports/WebhookSender.js"
import { Flights } from "./Flights.js"

/** How a dispatcher works. */
export interface DispatcherOptions {
  /** The name of the header that carries the signature. */
  readonly signatureHeader: string
  /** Puts retries off by up to a tenth, so that many do not come at once; the sandbox does without (contract §9). */
  readonly isJittered: boolean
  /** How many deliveries this process has on their way at once. */
  readonly mostInFlight: number
}

const usual: DispatcherOptions = { signatureHeader: SIGNATURE_HEADER, isJittered: true, mostInFlight: 256 }

/** How long a wake-up may be missed before the queue is looked at all the same. */
const POLL = "250 millis"
/** How an attempt's record is tried to be written, for about as long as its claim holds: later it would change nothing. */
const RECORDING = Schedule.intersect(Schedule.exponential("50 millis"), Schedule.recurs(7))

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** One attempt: signs, sends and records. One that cannot be recorded is left to its lease, and made again under the same event id. */
const makeAttempt = ({ signatureHeader: header, isJittered }: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const attempt = Effect.fnUntraced(function* ({ shop_id, event_id, token, webhook, body }: Claim) {
      const started_at = yield* now
      const signature = signatureHeader(body, signingSecrets(webhook, started_at), started_at)
      const sent = yield* sender.send({ shop_id, url: webhook.url, headers: { [header]: signature }, body })
      const jitter = isJittered ? entropy.bytes(1)[0]! / 256 : 0
      const attempted = { event_id, token, started_at, sent, jitter }
      yield* store.transact(recordAttempt(shop_id, attempted)).pipe(Effect.retry(RECORDING))
    })
    return (claim: Claim) =>
      Effect.catchAllCause(attempt(claim), (cause) =>
        Effect.logWarning("A delivery was not recorded and will be made again", cause)
      )
  })

const make = (options: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const deliveries = yield* Deliveries
    const attempt = yield* makeAttempt(options)
    const flights = new Flights()

    /** Sends what is due and fits, each on its own, so that none waits for another. Answers how many that were. */
    const dispatch = Effect.uninterruptible(
      Effect.gen(function* () {
        const free = options.mostInFlight - flights.count
        const claims = free > 0 ? yield* deliveries.claim(yield* now, free) : []
        yield* Effect.forEach(claims, (claim) => flights.begin(attempt(claim)), { discard: true })
        return claims.length
      })
    )

    const advanceReplays = Effect.gen(function* () {
      const open = yield* deliveries.replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) => store.transact(advanceReplay(shop_id, id)))
      return steps.reduce((sum, { answer }) => sum + answer, 0)
    })

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      for (let begun = 0; ; ) {
        const { nextLanding } = flights
        const done = (yield* advanceReplays) + (yield* dispatch)
        begun += done
        if (flights.count > 0) yield* nextLanding
        else if (done === 0) return begun
      }
    })

    const turn = Effect.gen(function* () {
      const { nextLanding } = flights
      yield* deliveries.reclaim
      const done = (yield* advanceReplays) + (yield* dispatch)
      const isIdle = done === 0 || flights.count >= options.mostInFlight
      if (isIdle) yield* Effect.raceAll([nextLanding, deliveries.changed, Effect.sleep(POLL)])
    })

    return {
      /** Makes every delivery due by now, and waits for those on their way. Answers how many it began. */
      runOnce,
      /** The earliest instant, at most `until`, at which there is something to do: now while deliveries or replays are on their way. */
      next: Effect.fnUntraced(function* (until: Instant) {
        const isUnderWay = flights.count > 0 || (yield* deliveries.replays).length > 0
        return isUnderWay ? yield* now : yield* deliveries.next(until)
      }),
      /** Delivers, until interrupted. A store that is away is tried again. */
      run: turn.pipe(
        Effect.catchAllCause((cause) =>
          Effect.zipRight(
            Effect.logWarning("Deliveries could not be claimed; trying again", cause),
            Effect.sleep("1 second")
          )
        ),
        Effect.forever
      )
    }
  })

/**
 * Brings events to the webhooks of shops: claims what is due, signs it as it is sent, and records what came of it, from
 * which the store's commands tell what comes next (spec §6, contract §9).
 */
export class Dispatcher extends Context.Tag("@workshop/core/Dispatcher")<
  Dispatcher,
  Effect.Effect.Success<ReturnType<typeof make>>
>() {
  /** A dispatcher that works as usual but for the given options. */
  static readonly layer = (
    options: Partial<DispatcherOptions> = {}
  ): Layer.Layer<Dispatcher, never, Store | Deliveries | WebhookSender | Entropy> =>
    Layer.effect(Dispatcher, make({ ...usual, ...options }))
}
