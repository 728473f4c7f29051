import { Context, Deferred, Effect, FiberId, Layer, Schedule } from "effect"
import { recordAttempt } from "../decisions/recordAttempt.js"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { Instant } from "../domain/Instant.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../domain/Signature.js"
import { type Claim, Deliveries, LEASE_MS } from "../ports/Deliveries.js"
import { Entropy } from "../ports/Entropy.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import { WebhookSender } from "../ports/WebhookSender.js"

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
/** How long an attempt's record is tried to be written: until its claim ends, after which it would change nothing. */
const RECORDING = Schedule.intersect(Schedule.exponential("50 millis"), Schedule.recurUpTo(LEASE_MS))

const make = (options: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const deliveries = yield* Deliveries
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const clockNow = Effect.clockWith((clock) => clock.currentTimeMillis)
    let inFlight = 0
    /** Done when the next delivery lands; whoever waits for one takes it before looking at what is in flight. */
    let landing = yield* Deferred.make<void>()
    const landed = Effect.suspend(() => {
      const before = landing
      inFlight--
      landing = Deferred.unsafeMake(FiberId.none)
      return Deferred.succeed(before, undefined)
    })

    const attempt = Effect.fnUntraced(function* ({ shop_id, event_id, token, webhook, body }: Claim) {
      const started_at = yield* clockNow
      const signature = signatureHeader(body, signingSecrets(webhook, started_at), started_at)
      const sent = yield* sender.send({
        shop_id,
        url: webhook.url,
        headers: { [options.signatureHeader]: signature },
        body
      })
      const jitter = options.isJittered ? entropy.bytes(1)[0]! / 256 : 0
      yield* store
        .transact(recordAttempt(shop_id, { event_id, token, started_at, sent, jitter }))
        .pipe(Effect.retry(RECORDING))
    })

    /** A claim whose record cannot be written is left to its lease: it is sent again, under the same event id. */
    const send = (claim: Claim) =>
      attempt(claim).pipe(
        Effect.catchAllCause((cause) => Effect.logWarning("A delivery was not recorded and will be made again", cause)),
        Effect.ensuring(landed)
      )

    /** Sends what is due and fits, each on its own, so that none waits for another. Answers how many that were. */
    const dispatch = Effect.gen(function* () {
      const free = options.mostInFlight - inFlight
      if (free <= 0) return 0
      const claims = yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const claims = yield* deliveries.claim(yield* clockNow, free)
          inFlight += claims.length
          for (const claim of claims) yield* Effect.forkDaemon(restore(send(claim)))
          return claims
        })
      )
      return claims.length
    })

    const advanceReplays = Effect.gen(function* () {
      const open = yield* deliveries.replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) => store.transact(advanceReplay(shop_id, id)))
      return steps.reduce((sum, { answer }) => sum + answer, 0)
    })

    /** Makes every delivery due by now, and waits for those on their way. Answers how many it began. */
    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      let begun = 0
      while (true) {
        const nextLanding = Deferred.await(landing)
        const done = (yield* advanceReplays) + (yield* dispatch)
        begun += done
        if (done === 0 && inFlight === 0) return begun
        if (inFlight > 0) yield* nextLanding
      }
    })

    const turn = Effect.gen(function* () {
      const nextLanding = Deferred.await(landing)
      yield* deliveries.reclaim
      const done = (yield* advanceReplays) + (yield* dispatch)
      if (done === 0 || inFlight >= options.mostInFlight) {
        yield* Effect.raceAll([nextLanding, deliveries.changed, Effect.sleep(POLL)])
      }
    })

    return {
      runOnce,
      /** The earliest instant, at most `until`, at which there is something to do: now while deliveries or replays are on their way. */
      next: Effect.fnUntraced(function* (until: Instant) {
        const isUnderWay = inFlight > 0 || (yield* deliveries.replays).length > 0
        return isUnderWay ? yield* clockNow : yield* deliveries.next(until)
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
