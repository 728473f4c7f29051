import { Context, Effect, Layer, Metric, Schedule } from "effect"
import { recordAttempt } from "../decisions/recordAttempt.js"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { Instant } from "../domain/Instant.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../domain/Signature.js"
import { type Claim, Deliveries } from "../ports/Deliveries.js"
import { Entropy } from "../ports/Entropy.js"
import { probe } from "../ports/Probes.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import { WebhookSender } from "../ports/WebhookSender.js"
import { Flights } from "./Flights.js"
import { attemptsEnded, showDeliveries } from "./ServiceMetrics.js"

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
/** How often leases are looked at. */
const RECLAIM = "1 second"
/** How long deliveries on their way may go on after an interruption, in real time; then they are left to their lease. */
const GRACE = "5 seconds"
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
      const { answer } = yield* store.transact(recordAttempt(shop_id, attempted)).pipe(Effect.retry(RECORDING))
      yield* Metric.increment(attemptsEnded[answer])
    })
    return (claim: Claim) =>
      Effect.catchAllCause(attempt(claim), (cause) =>
        Effect.logWarning("A delivery was not recorded and will be made again", cause)
      )
  })

/** Says why work on the queue failed, and waits a little before it is tried again. */
const patiently = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.catchAllCause(work, (cause) =>
    Effect.zipRight(Effect.logWarning("Deliveries could not be claimed; trying again", cause), Effect.sleep("1 second"))
  )

const make = (options: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const deliveries = yield* Deliveries
    const attempt = yield* makeAttempt(options)
    const flights = new Flights()
    yield* Effect.addFinalizer(() => flights.letGo)
    yield* probe({ measure: Effect.suspend(() => showDeliveries(flights.count)) })
    const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
    let stepped = 0

    /** Sends what is due and fits, each on its own, so that none waits for another. Answers how many that were. */
    const claimAndBegin = Effect.gen(function* () {
      const free = options.mostInFlight - flights.count
      const claims = free > 0 ? yield* deliveries.claim(yield* now, free) : []
      yield* Effect.forEach(claims, (claim) => flights.begin(attempt(claim)), { discard: true })
      return claims.length
    })
    // One at a time, or two would fill the same free places; and what is claimed takes off, or it would wait for its lease.
    const dispatch = oneByOne(Effect.uninterruptible(claimAndBegin))

    /** Takes a step of every open replay. Answers how many got on by it. */
    const advanceReplays = Effect.gen(function* () {
      const open = yield* deliveries.replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) => store.transact(advanceReplay(shop_id, id)))
      for (const { answer } of steps) stepped += answer.taken_up
      return steps.filter(({ answer }) => answer.taken_up > 0 || !answer.is_done).length
    })

    let answered = 0
    const progress = Effect.sync(() => {
      const made = flights.landed + stepped
      const since = made - answered
      answered = made
      return since
    })

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      yield* deliveries.reclaim
      while (true) {
        const { news } = flights
        const begun = (yield* advanceReplays) + (yield* dispatch)
        if (flights.count > 0) yield* news
        else if (begun === 0) return yield* progress
      }
    })

    const turn = Effect.gen(function* () {
      const { news } = flights
      const begun = (yield* advanceReplays) + (yield* dispatch)
      const isIdle = begun === 0 || flights.count >= options.mostInFlight
      if (isIdle) yield* Effect.race(news, Effect.sleep(POLL))
    })

    const run: Effect.Effect<never> = Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(deliveries.changed, flights.ring)))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(patiently(deliveries.reclaim), Effect.sleep(RECLAIM))))
      return yield* Effect.forever(patiently(turn))
    }).pipe(
      Effect.scoped,
      // However it ends: an interruption may meet a store that dies.
      Effect.ensuring(
        Effect.zipRight(Effect.timeoutOption(Effect.interruptible(flights.allLanded), GRACE), flights.letGo)
      )
    )

    return {
      /**
       * Makes every delivery due by now, also those whose process died, and waits for all on their way. Answers how many
       * landed, and how many events a replay took up, since it last answered: whoever began them.
       */
      runOnce,
      /** The earliest instant, at most `until`, at which there is something to do: now while deliveries or replays are on their way. */
      next: (until: Instant) =>
        oneByOne(
          Effect.gen(function* () {
            const isUnderWay = flights.count > 0 || (yield* deliveries.replays).length > 0
            return isUnderWay ? yield* now : yield* deliveries.next(until)
          })
        ),
      /**
       * Delivers, until interrupted. A store that is away is tried again. Interrupted, it claims no more and waits for what
       * is on its way, at most five real seconds; what has not landed by then is left to its lease, and uses up no attempt.
       */
      run
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
    Layer.scoped(Dispatcher, make({ ...usual, ...options }))
}
