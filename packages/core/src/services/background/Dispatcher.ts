import { Context, Effect, Layer } from "effect"
import { advanceReplay } from "../../decisions/replayDeliveries.js"
import type { Instant } from "../../domain/Instant.js"
import { ServiceLimits } from "../../domain/Limits.js"
import { type Complaint, mustBeBoolean, mustBePositive, requireOptions } from "../../domain/OptionChecks.js"
import { SIGNATURE_HEADER } from "../../domain/Signature.js"
import type { Entropy } from "../../ports/Entropy.js"
import { probe } from "../../ports/Probes.js"
import { Deliveries, Store, type StoreUnavailable } from "../../ports/StorePorts.js"
import { checkSignatureHeader, type WebhookSender } from "../../ports/WebhookSender.js"
import { showDeliveries } from "../observe/ServiceMetrics.js"
import { backgroundSucceeded, logBackgroundFailure } from "./BackgroundFailure.js"
import { type AttemptOptions, makeAttempt } from "./DeliveryAttempt.js"
import { makeDeliveryClaimer } from "./DeliveryClaimer.js"
import { InFlight } from "./InFlight.js"

/*
 * The path of a delivery, from its due time to its recorded result:
 *
 * 1. A command raises an event, and stores the event's delivery in the same commit. The delivery is due at once, or after its retry delay.
 * 2. `makeDeliveryClaimer` (`DeliveryClaimer.ts`) claims due deliveries, one claim at a time and never more than there are free slots. A claim
 *    has a token, and a lease during which no process claims the delivery again.
 * 3. Each claimed delivery takes a slot. A delivery that waits for a slow receiver stops counting (`DeliverySlots`), so that slow receivers
 *    do not delay the others.
 * 4. `makeAttempt` (`DeliveryAttempt.ts`) runs in its own fiber (`InFlight`): it signs the event's text, sends it, and records the
 *    result.
 * 5. The command that records the result decides what is next: the delivery has arrived, is due again after the delay of the retry table,
 *    is parked because the webhook is off, or is given up. The slot is free again.
 *
 * No delivery is lost, but a receiver may get one twice:
 *
 * - The process crashes between the claim and the record: the lease ends, `reclaim` makes the delivery due again, and the attempt is made
 *   again with the same event id. The crash uses up no attempt.
 * - The result cannot be recorded: the record is retried for about as long as the lease lasts, and then the lease ends
 *   as after a crash.
 * - The lease ended before the record, and another process claimed the delivery: the token is out of date, so `recordAttempt` changes
 *   nothing, and `recordSuperseded` records the attempt alone.
 * - The process stops: it claims no more, waits for the deliveries in flight, and interrupts those that take too long. Their leases end.
 */

/** The options of a dispatcher. */
export interface DispatcherOptions extends AttemptOptions {
  /** How many deliveries this process has in flight at once, not counting those that wait for slow receivers. */
  readonly maxInFlight: number
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
  maxInFlight: deliveries_in_flight_per_process
}

const optionChecks = {
  signatureHeader: checkSignatureHeader,
  isJittered: mustBeBoolean,
  maxInFlight: mustBePositive
} as const satisfies Record<keyof DispatcherOptions, (value: unknown) => Complaint>

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** Logs why work on the queue failed, and waits a second before the next try. */
const logFailure = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.catchAllCause(work, (cause) =>
    Effect.zipRight(
      logBackgroundFailure("Deliveries could not be claimed. The service tries again", cause),
      Effect.sleep("1 second")
    )
  )

/** Turns unfinished replays into deliveries, step by step (Specification, Webhooks). */
const makeReplayer = ({ replays }: Context.Tag.Service<Deliveries>, store: Context.Tag.Service<Store>) => {
  let replayedCount = 0
  return {
    /** Advances every unfinished replay by one step. Returns the number of replays. */
    advance: Effect.gen(function* () {
      const open = yield* replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) =>
        Effect.catchTag(store.transact(advanceReplay(shop_id, id)), "ShopNotFound", Effect.die)
      )
      for (const { result } of steps) replayedCount += result.selected_count
      return steps.filter(({ result }) => result.selected_count > 0 || !result.is_done).length
    }),
    /** How many events were replayed so far. */
    replayedCount: () => replayedCount
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
    const serially = Effect.unsafeMakeSemaphore(1).withPermits(1)
    const { maxInFlight } = options
    const claimer = makeDeliveryClaimer({ deliveries, inFlight, attempt, serially, maxInFlight })
    const replays = makeReplayer(deliveries, store)

    let claimsUntilReplayLook = 0
    /**
     * Claims deliveries, and advances replays on some calls. Returns the number of both, and 0 only if it queried the
     * replays too.
     */
    const claimAndReplay = (dispatch: typeof claimer.dispatch) =>
      Effect.gen(function* () {
        if (claimsUntilReplayLook === 0) {
          const replayedCount = yield* replays.advance
          const claimCount = yield* dispatch
          if (replayedCount === 0 && claimCount > 0) claimsUntilReplayLook = delivery_claims_per_replay_look
          return replayedCount + claimCount
        }
        const claimCount = yield* dispatch
        if (claimCount > 0) {
          claimsUntilReplayLook--
          return claimCount
        }
        claimsUntilReplayLook = 0
        return yield* replays.advance
      })

    let reportedCount = 0
    const takeProgress = Effect.sync(() => {
      const newlyFinished = inFlight.finishedCount + replays.replayedCount() - reportedCount
      reportedCount += newlyFinished
      return newlyFinished
    })

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      yield* deliveries.reclaim
      while (true) {
        const { nextWake } = inFlight.signal
        // A delivery that finishes after the claim has counted the free slots frees a slot for the next pass.
        const isQuiet = inFlight.count === 0
        const count = yield* claimAndReplay(claimer.dispatch)
        if (inFlight.count > 0) yield* nextWake
        else if (count === 0 && isQuiet) return yield* takeProgress
      }
    })

    // Only this loop depends on real time. `runOnce`, which a sandbox uses, delivers in the same order on any machine.
    const claimOrWait = Effect.gen(function* () {
      yield* claimer.throttle
      const { nextWake } = inFlight.signal
      const count = yield* claimAndReplay(claimer.dispatchIgnoringSlow)
      yield* backgroundSucceeded
      if (count === 0 || !(yield* claimer.hasFreeSlot)) yield* Effect.race(nextWake, Effect.sleep(delivery_poll_ms))
    })

    const run: Effect.Effect<never> = Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(deliveries.changed, inFlight.signal.wake)))
      const reclaimThenWait = Effect.zipRight(logFailure(deliveries.reclaim), Effect.sleep(delivery_reclaim_every_ms))
      yield* Effect.forkScoped(Effect.forever(reclaimThenWait))
      return yield* Effect.forever(logFailure(claimOrWait))
    }).pipe(Effect.scoped, inFlight.finishAfter)

    return {
      /**
       * Makes every delivery due by now, including those whose process crashed, and waits for all in flight. Returns
       * how many finished and how many events were replayed since the last call, including those that another caller
       * began.
       */
      runOnce,
      /** The earliest instant, at most `until`, at which there is work: now, while deliveries or replays are in progress. */
      next: (until: Instant) =>
        serially(
          Effect.gen(function* () {
            const isInProgress = inFlight.count > 0 || (yield* deliveries.replays).length > 0
            return isInProgress ? yield* now : yield* deliveries.next(until)
          })
        ),
      /**
       * Delivers until interrupted, and retries if the store is unavailable. After an interruption it claims no more
       * and waits at most five real seconds for the deliveries in flight. The others keep their claims until the lease
       * ends, which uses up no attempt.
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
      Effect.suspend(() => make({ ...defaults, ...requireOptions("the dispatcher", options, optionChecks) }))
    )
}
