import { type Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { type Attempted, recordAttempt, recordSuperseded } from "../decisions/recordAttempt.js"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { type Complaint, checkedOptions, isBoolean, isPositive } from "../domain/OptionChecks.js"
import { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "../domain/Signature.js"
import { acknowledges, type HealthTransition, hostOf, type Sent, saysGone, sendErrors } from "../domain/Webhook.js"
import { Entropy } from "../ports/Entropy.js"
import { probe } from "../ports/Probes.js"
import { type Claim, Deliveries, Store, type StoreUnavailable } from "../ports/StorePorts.js"
import { checkSignatureHeader, WebhookSender } from "../ports/WebhookSender.js"
import { backgroundSucceeded, logBackgroundFailure } from "./BackgroundFailure.js"
import { InFlight } from "./InFlight.js"
import { attemptsEnded, showDeliveries } from "./ServiceMetrics.js"

/*
 * The path of a delivery, from its due time to its recorded result:
 *
 * 1. A command raises an event, and stores the event's delivery in the same commit. The delivery is due at once, or after its retry delay.
 * 2. `deliveryClaimer` claims due deliveries, one claim at a time and never more than there are free slots. A claim has a token, and a lease
 *    during which no process claims the delivery again.
 * 3. Each claimed delivery takes a slot. A delivery that waits for a slow receiver stops counting (`DeliverySlots`), so that slow receivers
 *    do not delay the others.
 * 4. `makeAttempt` runs in a fiber of its own (`InFlight`): it signs the event's text, sends it, and records the result.
 * 5. The command that records the result decides what is next: the delivery has arrived, is due again after the delay of the retry table,
 *    is parked because the webhook is off, or is given up. The slot is free again.
 *
 * No delivery is lost, but a receiver may get one twice:
 *
 * - The process crashes between the claim and the record: the lease ends, `reclaim` makes the delivery due again, and the attempt is made
 *   again with the same event id. The crash uses up no attempt.
 * - The result cannot be recorded: the record is tried again for about as long as the lease lasts; then it is as after a crash.
 * - The lease ended before the record, and another process claimed the delivery: the token is out of date, so `recordAttempt` changes
 *   nothing, and `recordSuperseded` records the attempt alone.
 * - The process stops: it claims no more, waits for the deliveries in flight, and interrupts those that take too long. Their leases end.
 */

const { delivery_slow_after_ms, delivery_slow_factor, delivery_claim_pause_min_ms, delivery_claim_pause_max_ms } =
  ServiceLimits

/** Milliseconds of real time, even if a sandbox's clock is frozen. */
const realNow = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The deliveries that one claim started. */
interface Batch {
  readonly began_at: number
  running: number
  isQuick: boolean
}

/**
 * Limits how many deliveries a process has in flight. A delivery that waits for a slow receiver stops counting, so that slow receivers do
 * not delay the others; only a much higher limit, which protects memory, still counts it (Specification, Webhooks).
 */
class DeliverySlots {
  readonly #most: number
  readonly #quick: Array<Batch> = []
  #quickRunning = 0
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many slots are free if every delivery counts. */
  get free(): number {
    return this.#most - this.#running
  }

  /** How many slots are free at a time, in milliseconds, if slow deliveries do not count. */
  freeIgnoringSlow(now_ms: number): number {
    while (this.#quick[0] !== undefined && this.#quick[0].began_at <= now_ms - delivery_slow_after_ms) {
      const slow = this.#quick.shift()!
      slow.isQuick = false
      this.#quickRunning -= slow.running
    }
    return Math.min(this.#most - this.#quickRunning, delivery_slow_factor * this.#most - this.#running)
  }

  /** Takes a slot for each delivery of a batch. The result frees one slot; each delivery calls it once. */
  take(count: number, now_ms: number): () => void {
    const batch: Batch = { began_at: now_ms, running: count, isQuick: true }
    if (count > 0) this.#quick.push(batch)
    this.#running += count
    this.#quickRunning += count
    return () => {
      this.#running--
      batch.running--
      if (batch.isQuick) this.#quickRunning--
    }
  }
}

/** The dependencies of a claimer. */
export interface ClaimerDeps {
  readonly deliveries: Context.Tag.Service<Deliveries>
  readonly inFlight: InFlight
  readonly attempt: (claim: Claim) => Effect.Effect<void>
  readonly oneByOne: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly mostInFlight: number
}

/** Claims due deliveries and starts their attempts. */
export const deliveryClaimer = ({ deliveries, inFlight, attempt, oneByOne, mostInFlight }: ClaimerDeps) => {
  const slots = new DeliverySlots(mostInFlight)
  let claimed_at = 0
  let took_ms = 0

  const claimAndBegin = (freeSlots: (now_ms: number) => number) =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const began_at = realNow(clock)
      const free = freeSlots(began_at)
      const claims = free > 0 ? yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), free) : []
      claimed_at = realNow(clock)
      took_ms = claimed_at - began_at
      const freeSlot = slots.take(claims.length, claimed_at)
      yield* Effect.forEach(claims, (claim) => inFlight.begin(attempt(claim), freeSlot), { discard: true })
      return claims.length
    })

  // One claim at a time, because two would fill the same slots. Uninterruptible, because claimed deliveries that are not started would wait
  // until their lease ends.
  const dispatching = (freeSlots: (now_ms: number) => number) =>
    oneByOne(Effect.uninterruptible(claimAndBegin(freeSlots)))

  return {
    /** Whether a slot is free if slow deliveries do not count. */
    hasFreeSlot: Effect.clockWith((clock) => Effect.sync(() => slots.freeIgnoringSlow(realNow(clock)) > 0)),
    /**
     * Waits a little after the last claim while deliveries are in flight, so that one claim fills many slots: it costs as much as a claim
     * of one delivery.
     */
    throttle: Effect.clockWith((clock) => {
      const pause_ms = Math.min(delivery_claim_pause_max_ms, Math.max(delivery_claim_pause_min_ms, took_ms))
      const left_ms = inFlight.count === 0 ? 0 : claimed_at + pause_ms - realNow(clock)
      return left_ms > 0 ? clock.sleep(Duration.millis(Math.min(pause_ms, left_ms))) : Effect.void
    }),
    /** Claims due deliveries that have a slot, and starts each in a fiber of its own. Returns how many. */
    dispatch: dispatching(() => slots.free),
    /** The same, but slow deliveries do not count. */
    dispatchIgnoringSlow: dispatching((now_ms) => slots.freeIgnoringSlow(now_ms))
  }
}

const causeOf = (sent: Sent): string => {
  const { status, error } = sent
  if (status !== null) return `the receiver responded ${status}${saysGone(sent) ? ", which turns the webhook off" : ""}`
  return error === null ? "no response came" : sendErrors[error]
}

/** Logs that the deliveries of a webhook begin to fail, or arrive again. The stored row of failures decides which attempt logs it. */
const logTransition = (
  transition: HealthTransition,
  { url, sent }: Attempted,
  shop_id: ShopId
): Effect.Effect<void> => {
  const { status, error } = sent
  const host = hostOf(url)
  const line =
    transition === "recovered"
      ? Effect.logInfo(
          `Deliveries to ${host} arrive again. Events that failed before are tried again at their own times, so they may arrive after later ones`
        )
      : Effect.logWarning(
          `Deliveries to ${host} began to fail: ${causeOf(sent)}. The attempts are in deliveries.list, and in workshop webhook deliveries ${shop_id}`
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
 * How the result of an attempt is recorded: repeatedly, for about as long as its claim is valid, because a later record changes nothing.
 */
const RECORDING = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(6))
const FIRST_RETRY = "50 millis"

/**
 * One attempt: signs, sends and records. If it cannot be recorded, its lease ends, and the delivery is attempted again with the same event
 * id.
 */
export const makeAttempt = ({ signatureHeader: header, isJittered }: AttemptOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const sender = yield* WebhookSender
    const entropy = yield* Entropy
    const record = ({ shop_id, event_id, token, webhook: { url } }: Claim, started_at: Instant, sent: Sent) => {
      const jitter = isJittered && !acknowledges(sent) ? entropy.bytes(1)[0]! / 256 : 0
      const attempted = { event_id, token, url, started_at, sent, jitter }
      const recording = Effect.flatMap(store.transact(recordAttempt(shop_id, attempted)), (recorded) =>
        recorded.result.outcome === "superseded"
          ? store.transact(recordSuperseded(shop_id, attempted))
          : Effect.succeed(recorded)
      )
      // The first try runs without a schedule, which costs time.
      return recording.pipe(
        Effect.catchAll(() => Effect.delay(Effect.retry(recording, RECORDING), FIRST_RETRY)),
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
        Effect.logWarning("A delivery was not recorded and will be made again", cause)
      )
  })

/** How a dispatcher works. */
export interface DispatcherOptions extends AttemptOptions {
  /** How many deliveries this process has in flight at once, not counting those that wait for slow receivers. */
  readonly mostInFlight: number
}

const {
  deliveries_in_flight_per_process,
  delivery_poll_ms,
  delivery_reclaim_every_ms,
  delivery_claims_per_replay_look
} = ServiceLimits

const defaults: DispatcherOptions = {
  signatureHeader: SIGNATURE_HEADER,
  isJittered: true,
  mostInFlight: deliveries_in_flight_per_process
}

const optionChecks = {
  signatureHeader: checkSignatureHeader,
  isJittered: isBoolean,
  mostInFlight: isPositive
} as const satisfies Record<keyof DispatcherOptions, (value: unknown) => Complaint>

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** Logs why work on the queue failed, and waits a second before the next try. */
const logFailure = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.catchAllCause(work, (cause) =>
    Effect.zipRight(
      logBackgroundFailure("Deliveries could not be claimed; trying again", cause),
      Effect.sleep("1 second")
    )
  )

/** Turns replays into deliveries, in steps (Specification, Webhooks). */
const replayer = ({ replays }: Context.Tag.Service<Deliveries>, store: Context.Tag.Service<Store>) => {
  let replayed = 0
  return {
    /** Takes one step of every unfinished replay. Returns how many replays advanced. */
    advance: Effect.gen(function* () {
      const open = yield* replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) =>
        Effect.catchTag(store.transact(advanceReplay(shop_id, id)), "ShopNotFound", Effect.die)
      )
      for (const { result } of steps) replayed += result.taken_up
      return steps.filter(({ result }) => result.taken_up > 0 || !result.is_done).length
    }),
    /** How many events were replayed so far. */
    replayed: () => replayed
  }
}

const make = (options: DispatcherOptions) =>
  Effect.gen(function* () {
    const store = yield* Store
    const deliveries = yield* Deliveries
    const attempt = yield* makeAttempt(options)
    const inFlight = new InFlight()
    yield* Effect.addFinalizer(() => inFlight.interruptAll)
    yield* probe({ measure: Effect.suspend(() => showDeliveries(inFlight.count)) })
    const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
    const { mostInFlight } = options
    const claimer = deliveryClaimer({ deliveries, inFlight, attempt, oneByOne, mostInFlight })
    const replays = replayer(deliveries, store)

    let claimsLeft = 0
    /** Sometimes advances replays, then dispatches. Returns how much it did; if that is nothing, it has looked for replays. */
    const turn = (dispatch: typeof claimer.dispatch) =>
      Effect.gen(function* () {
        const isLookingFirst = claimsLeft === 0
        const replayed = isLookingFirst ? yield* replays.advance : 0
        const begun = yield* dispatch
        claimsLeft = replayed > 0 || begun === 0 ? 0 : isLookingFirst ? delivery_claims_per_replay_look : claimsLeft - 1
        return begun === 0 && !isLookingFirst ? yield* replays.advance : replayed + begun
      })

    let reported = 0
    const progress = Effect.sync(() => {
      const since = inFlight.finished + replays.replayed() - reported
      reported += since
      return since
    })

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      yield* deliveries.reclaim
      while (true) {
        const { nextWake } = inFlight.signal
        // A delivery that finishes after the claim has counted the slots frees one that the claim did not see.
        const isQuiet = inFlight.count === 0
        const begun = yield* turn(claimer.dispatch)
        if (inFlight.count > 0) yield* nextWake
        else if (begun === 0 && isQuiet) return yield* progress
      }
    })

    // Real time counts only here: `runOnce`, which a sandbox uses, has the same order on any machine.
    const claimOrWait = Effect.gen(function* () {
      yield* claimer.throttle
      const { nextWake } = inFlight.signal
      const begun = yield* turn(claimer.dispatchIgnoringSlow)
      yield* backgroundSucceeded
      if (begun === 0 || !(yield* claimer.hasFreeSlot)) yield* Effect.race(nextWake, Effect.sleep(delivery_poll_ms))
    })

    const run: Effect.Effect<never> = Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(deliveries.changed, inFlight.signal.wake)))
      const reclaimThenWait = Effect.zipRight(logFailure(deliveries.reclaim), Effect.sleep(delivery_reclaim_every_ms))
      yield* Effect.forkScoped(Effect.forever(reclaimThenWait))
      return yield* Effect.forever(logFailure(claimOrWait))
    }).pipe(Effect.scoped, inFlight.finishAfter)

    return {
      /**
       * Makes every delivery due by now, including those whose process died, and waits for all in flight. Returns how many finished and how
       * many events were replayed since the last call, including those that another caller began.
       */
      runOnce,
      /** The earliest instant, at most `until`, at which there is work: now, while deliveries or replays are in progress. */
      next: (until: Instant) =>
        oneByOne(
          Effect.gen(function* () {
            const isInProgress = inFlight.count > 0 || (yield* deliveries.replays).length > 0
            return isInProgress ? yield* now : yield* deliveries.next(until)
          })
        ),
      /**
       * Delivers until interrupted; tries again if the store is unavailable. After an interruption it claims no more and waits at most five
       * real seconds for the deliveries in flight. The others keep their claims until the lease ends, which uses up no attempt.
       */
      run
    }
  })

/**
 * Delivers events to shops' webhooks: claims due deliveries, signs and sends them, and records the results. The command that records a
 * result decides what happens next (Specification, Webhooks).
 */
export class Dispatcher extends Context.Tag("@workshop/core/Dispatcher")<
  Dispatcher,
  Effect.Effect.Success<ReturnType<typeof make>>
>() {
  /** A dispatcher with the default options, except for the given ones. */
  static readonly layer = (
    options: Partial<DispatcherOptions> = {}
  ): Layer.Layer<Dispatcher, never, Store | Deliveries | WebhookSender | Entropy> =>
    Layer.scoped(
      Dispatcher,
      Effect.suspend(() => make({ ...defaults, ...checkedOptions("the dispatcher", options, optionChecks) }))
    )
}
