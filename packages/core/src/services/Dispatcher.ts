import { Context, Effect, Layer } from "effect"
import type { Instant } from "../domain/Instant.js"
import { SIGNATURE_HEADER } from "../domain/Signature.js"
import { Deliveries } from "../ports/Deliveries.js"
import type { Entropy } from "../ports/Entropy.js"
import { probe } from "../ports/Probes.js"
import { Store, type StoreUnavailable } from "../ports/Store.js"
import type { WebhookSender } from "../ports/WebhookSender.js"
import { type AttemptOptions, makeAttempt } from "./Attempts.js"
import { deliveryClaimer } from "./DeliveryClaimer.js"
import { InFlight } from "./InFlight.js"
import { replaySteps } from "./ReplaySteps.js"
import { showDeliveries } from "./ServiceMetrics.js"

/** How a dispatcher works. */
export interface DispatcherOptions extends AttemptOptions {
  /** How many deliveries this process has on their way at once, not counting those that wait for slow receivers: see `Places`. */
  readonly mostInFlight: number
}

const usual: DispatcherOptions = { signatureHeader: SIGNATURE_HEADER, isJittered: true, mostInFlight: 256 }

/** How long a wake-up may be missed before the queue is looked at all the same. */
const POLL = "250 millis"
/** How often leases are looked at. */
const RECLAIM = "1 second"
/** How long deliveries on their way may go on after an interruption, in real time; then they are left to their lease. */
const GRACE = "5 seconds"
/** So many turns that had something to send may pass until replays are looked for. */
const TURNS_WITHOUT_REPLAYS = 16

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

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
    const flights = new InFlight()
    yield* Effect.addFinalizer(() => flights.letGo)
    yield* probe({ measure: Effect.suspend(() => showDeliveries(flights.count)) })
    const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
    const ground = { deliveries, flights, attempt, oneByOne, mostInFlight: options.mostInFlight }
    const { gather, dispatch, dispatchBesideSlow, hasPlace } = deliveryClaimer(ground)
    const replays = replaySteps(deliveries, store)

    let turnsLeft = 0
    /** Replays take steps and deliveries take off. Answers how much of that there was; without any, replays were looked for. */
    const turn = (takeOff: typeof dispatch) =>
      Effect.gen(function* () {
        const isLookingFirst = turnsLeft === 0
        const replayed = isLookingFirst ? yield* replays.advance : 0
        const begun = yield* takeOff
        turnsLeft = replayed > 0 || begun === 0 ? 0 : isLookingFirst ? TURNS_WITHOUT_REPLAYS : turnsLeft - 1
        return begun === 0 && !isLookingFirst ? yield* replays.advance : replayed + begun
      })

    let answered = 0
    const progress = Effect.sync(() => {
      const since = flights.landed + replays.stepped() - answered
      answered += since
      return since
    })

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      yield* deliveries.reclaim
      while (true) {
        const { news } = flights
        // What landed after the claim had looked has made room that it did not see.
        const isQuiet = flights.count === 0
        const begun = yield* turn(dispatch)
        if (flights.count > 0) yield* news
        else if (begun === 0 && isQuiet) return yield* progress
      }
    })

    // Only here does it matter how long something takes: what is done once, as by a sandbox, must come about in the same
    // order however fast the machine is.
    const turnOrRest = Effect.gen(function* () {
      yield* gather
      const { news } = flights
      const begun = yield* turn(dispatchBesideSlow)
      if (begun === 0 || !(yield* hasPlace)) yield* Effect.race(news, Effect.sleep(POLL))
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
 * which the store's commands tell what comes next (Specification, Webhooks).
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
