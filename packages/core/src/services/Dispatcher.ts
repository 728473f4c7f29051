import { Context, Effect, Layer } from "effect"
import { advanceReplay } from "../decisions/replayDeliveries.js"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { SIGNATURE_HEADER } from "../domain/Signature.js"
import { Deliveries } from "../ports/Deliveries.js"
import type { Entropy } from "../ports/Entropy.js"
import { probe } from "../ports/Probes.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import type { WebhookSender } from "../ports/WebhookSender.js"
import { type AttemptOptions, makeAttempt } from "./DeliveryAttempt.js"
import { deliveryClaimer } from "./DeliveryClaimer.js"
import { InFlight } from "./InFlight.js"
import { showDeliveries } from "./ServiceMetrics.js"

/** How a dispatcher works. */
export interface DispatcherOptions extends AttemptOptions {
  /** How many deliveries this process has in flight at once, without those that wait for slow receivers. */
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

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** Logs why work on the queue failed, and waits a second before the next try. */
const logFailure = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.catchAllCause(work, (cause) =>
    Effect.zipRight(Effect.logWarning("Deliveries could not be claimed; trying again", cause), Effect.sleep("1 second"))
  )

/** Turns replays into deliveries, step by step (Specification, Webhooks). */
const replayer = ({ replays }: Context.Tag.Service<Deliveries>, store: Context.Tag.Service<Store>) => {
  let replayed = 0
  return {
    /** Takes a step of every open replay. Returns how many replays advanced. */
    advance: Effect.gen(function* () {
      const open = yield* replays
      const steps = yield* Effect.forEach(open, ({ shop_id, id }) => store.transact(advanceReplay(shop_id, id)))
      for (const { answer } of steps) replayed += answer.taken_up
      return steps.filter(({ answer }) => answer.taken_up > 0 || !answer.is_done).length
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
    /** Advances replays, now and then, and dispatches. Returns how much was done; where that is nothing, it has looked for replays. */
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
        const { news } = inFlight
        // A delivery that finishes after the claim has looked makes room that the claim did not see.
        const isQuiet = inFlight.count === 0
        const begun = yield* turn(claimer.dispatch)
        if (inFlight.count > 0) yield* news
        else if (begun === 0 && isQuiet) return yield* progress
      }
    })

    // Only here does real time count: `runOnce`, as in a sandbox, gives the same order however fast the machine is.
    const turnOrWait = Effect.gen(function* () {
      yield* claimer.throttle
      const { news } = inFlight
      const begun = yield* turn(claimer.dispatchIgnoringSlow)
      if (begun === 0 || !(yield* claimer.hasFreeSlot)) yield* Effect.race(news, Effect.sleep(delivery_poll_ms))
    })

    const run: Effect.Effect<never> = Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(deliveries.changed, inFlight.wake)))
      const reclaimThenWait = Effect.zipRight(logFailure(deliveries.reclaim), Effect.sleep(delivery_reclaim_every_ms))
      yield* Effect.forkScoped(Effect.forever(reclaimThenWait))
      return yield* Effect.forever(logFailure(turnOrWait))
    }).pipe(Effect.scoped, inFlight.finishAfter)

    return {
      /**
       * Makes every delivery due by now, also those whose process died, and waits for all in flight. Returns how many finished,
       * and how many events were replayed, since the last call, whoever began them.
       */
      runOnce,
      /** The earliest instant, at most `until`, at which there is something to do: now while deliveries or replays are in progress. */
      next: (until: Instant) =>
        oneByOne(
          Effect.gen(function* () {
            const isInProgress = inFlight.count > 0 || (yield* deliveries.replays).length > 0
            return isInProgress ? yield* now : yield* deliveries.next(until)
          })
        ),
      /**
       * Delivers, until interrupted; tries again when the store is unavailable. After an interruption it claims no more and waits at
       * most five real seconds for what is in flight. The rest is left to its lease and uses up no attempt.
       */
      run
    }
  })

/**
 * Delivers events to the webhooks of shops: claims what is due, signs and sends it, and records the result. The command that records
 * it decides what comes next (Specification, Webhooks).
 */
export class Dispatcher extends Context.Tag("@workshop/core/Dispatcher")<
  Dispatcher,
  Effect.Effect.Success<ReturnType<typeof make>>
>() {
  /** A dispatcher with the default options except those given. */
  static readonly layer = (
    options: Partial<DispatcherOptions> = {}
  ): Layer.Layer<Dispatcher, never, Store | Deliveries | WebhookSender | Entropy> =>
    Layer.scoped(Dispatcher, make({ ...defaults, ...options }))
}
