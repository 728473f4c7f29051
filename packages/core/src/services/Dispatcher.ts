import { type Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { recordAttempt } from "../decisions/recordAttempt.js"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import { acknowledges, type Sent } from "../domain/Attempt.js"
import type { Instant } from "../domain/Instant.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../domain/Signature.js"
import { type Claim, Deliveries } from "../ports/Deliveries.js"
import { Entropy } from "../ports/Entropy.js"
import { probe } from "../ports/Probes.js"
import { readClock } from "../ports/readClock.js"
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
const RECORDING = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(6))
const FIRST_AGAIN = "50 millis"

/** While much is on its way, claims are at least so far apart, and as far as the last one took, but no farther than the most. */
const LEAST_APART_MS = 1
const MOST_APART_MS = 20

/** So many turns that had something to send may pass until replays are looked for. */
const TURNS_WITHOUT_REPLAYS = 16

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** Milliseconds that pass also while a sandbox's clock stands. */
const realNow = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** One attempt: signs, sends and records. One that cannot be recorded is left to its lease, and made again under the same event id. */
const makeAttempt = ({ signatureHeader: header, isJittered }: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const record = ({ shop_id, event_id, token }: Claim, started_at: Instant, sent: Sent) => {
      const jitter = isJittered && !acknowledges(sent) ? entropy.bytes(1)[0]! / 256 : 0
      const recording = store.transact(recordAttempt(shop_id, { event_id, token, started_at, sent, jitter }))
      // The first try goes without what a schedule needs.
      return recording.pipe(
        Effect.catchAll(() => Effect.delay(Effect.retry(recording, RECORDING), FIRST_AGAIN)),
        Effect.map(({ answer }) => void attemptsEnded[answer].unsafeUpdate(1, []))
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
    let claimed_at = 0
    let took_ms = 0

    /** Lets landings gather, so that one claim fills the places of many: a claim costs about the same for one as for all. */
    const gather = readClock((clock) => {
      const apart_ms = Math.min(MOST_APART_MS, Math.max(LEAST_APART_MS, took_ms))
      const left_ms = flights.count === 0 ? 0 : claimed_at + apart_ms - realNow(clock)
      return left_ms > 0 ? clock.sleep(Duration.millis(Math.min(apart_ms, left_ms))) : Effect.void
    })

    /** Sends what is due and fits, each on its own, so that none waits for another. Answers how many that were. */
    const claimAndBegin = Effect.gen(function* () {
      const free = options.mostInFlight - flights.count
      const clock = yield* Effect.clock
      const began_at = realNow(clock)
      const claims = free > 0 ? yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), free) : []
      claimed_at = realNow(clock)
      took_ms = claimed_at - began_at
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

    let turnsLeft = 0
    /** Replays take steps and deliveries take off. Answers how much of that there was; without any, replays were looked for. */
    const turn = Effect.gen(function* () {
      yield* gather
      const isLookingFirst = turnsLeft === 0
      const replayed = isLookingFirst ? yield* advanceReplays : 0
      const begun = yield* dispatch
      if (replayed === 0 && begun > 0) turnsLeft = isLookingFirst ? TURNS_WITHOUT_REPLAYS : turnsLeft - 1
      else turnsLeft = 0
      return begun === 0 && !isLookingFirst ? yield* advanceReplays : replayed + begun
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
        const begun = yield* turn
        if (flights.count > 0) yield* news
        else if (begun === 0) return yield* progress
      }
    })

    const turnOrRest = Effect.gen(function* () {
      const { news } = flights
      const begun = yield* turn
      const isIdle = begun === 0 || flights.count >= options.mostInFlight
      if (isIdle) yield* Effect.race(news, Effect.sleep(POLL))
    })

    const run: Effect.Effect<never> = Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(deliveries.changed, flights.ring)))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(patiently(deliveries.reclaim), Effect.sleep(RECLAIM))))
      return yield* Effect.forever(patiently(turnOrRest))
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
