import { Clock, type Context, Effect, Layer } from "effect"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { StoreRetention } from "../ports/Retention.js"
import { Store, type StoreUnavailable } from "../ports/StorePorts.js"
import { ApiKeyCache } from "./ApiKeyCache.js"
import { Audit } from "./Audit.js"
import { backgroundSucceeded, logBackgroundFailure, ownFailureLog } from "./background/BackgroundFailure.js"
import { Closer } from "./background/Closer.js"
import { Dispatcher } from "./background/Dispatcher.js"
import { NotificationSender } from "./background/NotificationSender.js"
import { Signal } from "./background/Signal.js"
import { CachedRateLimits } from "./CachedRateLimits.js"
import { Clients } from "./Clients.js"
import { CommittedChanges, observedStore } from "./CommittedEvents.js"
import { MovableClock } from "./clock/ClockAdvance.js"
import { ClockComparison } from "./clock/ClockRepair.js"
import { DeliveryHistory } from "./DeliveryHistory.js"
import { Imports } from "./Imports.js"
import { Keys } from "./Keys.js"
import { Loyalty } from "./Loyalty.js"
import { Offers } from "./Offers.js"
import { Progress } from "./Progress.js"
import { exhaustionLog } from "./pool/PoolExhaustion.js"
import { Quotes } from "./Quotes.js"
import { Shops } from "./Shops.js"
import { Tickets } from "./Tickets.js"
import { Webhooks } from "./Webhooks.js"

/**
 * All services of the workshop, over the ports: provide a store (`@workshop/store-memory`), `Entropy.layer` and a `ProfanityFilter`
 * (`Profanity.layer` is the default one). It adds `CommittedEvents`, which has the events that are committed through these services.
 */
export const layer = Layer.mergeAll(
  Tickets.Default,
  DeliveryHistory.Default,
  Progress.Default,
  Quotes.Default,
  Clients.Default,
  Loyalty.Default,
  Offers.Default,
  Keys.Default,
  Imports.Default,
  Webhooks.Default,
  Closer.Default,
  Audit.Default,
  CachedRateLimits.layer,
  ClockComparison.layer,
  exhaustionLog
).pipe(
  Layer.provideMerge(Shops.Default),
  Layer.provideMerge(ApiKeyCache.Default),
  // The layer also provides the wrapped store, so that a service above these, such as a dispatcher, commits through it.
  Layer.provideMerge(observedStore),
  Layer.provideMerge(ownFailureLog)
)

const YEAR_MS = 365 * 86_400_000

const inRealTime = Effect.withClock(Clock.make())

/** Waits for a poll's interval in real time, because other processes do not have the test's clock. */
const waitForRealPoll = inRealTime(Effect.sleep(ServiceLimits.closure_poll_ms))

const logHeldClock = inRealTime(
  Effect.zipRight(
    Effect.sleep(ServiceLimits.stop_grace_ms),
    Effect.logWarning(
      "TestClock.adjust has waited five seconds for the background work. Check that the store, the notifiers and the sender respond"
    )
  )
)

/**
 * Does work at one instant of the test's clock, even if a database takes long in real time. Time-outs take real time
 * too. While the work runs, the test's clock moves by a millisecond at a time, so that `TestClock.adjust` does not skip
 * further work that the work makes due.
 */
const withFrozenClock = (clock: MovableClock) => {
  const tickForever = Effect.forever(Effect.sleep(1))
  return <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      clock.begin({ now, frozen: true })
      return Effect.raceFirst(
        Effect.withClock(work, clock),
        Effect.zipRight(Effect.raceFirst(tickForever, logHeldClock), tickForever)
      )
    })
}

/**
 * The background work under Effect's TestClock. Sixty days would be millions of polls, so it sleeps until the next
 * instant at which something is due, and wakes at each commit of this process.
 */
const workUnderTestClock = Effect.gen(function* () {
  const backgroundWorks = [yield* Closer, yield* Dispatcher, yield* NotificationSender] as const
  const signal = new Signal()
  const { listen } = yield* CommittedChanges
  yield* Effect.acquireRelease(
    Effect.sync(() => listen(() => signal.unsafeWake())),
    (stop) => Effect.sync(stop)
  )
  /** Whether the last run did none of the due work, for example because another process has the delivery in flight. */
  let isIdle = false
  const work = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const nextYear = now + YEAR_MS
    const nextInstants = yield* Effect.forEach(
      backgroundWorks,
      (work): Effect.Effect<Instant | null, StoreUnavailable> => work.next(nextYear)
    )
    const due = Math.min(nextYear, ...nextInstants.filter((next) => next !== null))
    const done =
      due > now
        ? [1]
        : yield* Effect.forEach(backgroundWorks, (work): Effect.Effect<number, StoreUnavailable> => work.runOnce)
    isIdle = done.every((count) => count === 0)
    return due
  })
  const runAtOneInstant = withFrozenClock(new MovableClock(Clock.make()))
  const runTurn = Effect.gen(function* () {
    const nextWake = signal.nextWake
    const due = yield* runAtOneInstant(work)
    yield* backgroundSucceeded
    if (isIdle) return yield* Effect.race(nextWake, waitForRealPoll)
    const wait_ms = due - (yield* Clock.currentTimeMillis)
    return wait_ms > 0 ? yield* Effect.raceAll([nextWake, Effect.sleep(wait_ms), waitForRealPoll]) : undefined
  })
  return yield* Effect.forever(
    Effect.catchAllCause(runTurn, (cause) =>
      Effect.zipRight(
        logBackgroundFailure("The background work failed and will be tried again", cause),
        waitForRealPoll
      )
    )
  )
})

/**
 * The background work of a process, as long as the layer lives: closes due tickets, delivers events, notifies clients and owners, and
 * removes old rows where the store has some. Under Effect's TestClock it does not poll, so that a test can adjust the clock by months at once.
 */
export const background: Layer.Layer<
  never,
  never,
  Closer | CommittedChanges | Dispatcher | NotificationSender | Store
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    if ("adjust" in (yield* Effect.clock)) return yield* Effect.forkScoped(workUnderTestClock)
    // The store provides the retention worker, so it must be built first.
    yield* Store
    const makeRetention = yield* StoreRetention
    yield* Effect.forkScoped((yield* Closer).run)
    yield* Effect.forkScoped((yield* Dispatcher).run)
    yield* Effect.forkScoped((yield* NotificationSender).run)
    if (makeRetention !== null) yield* Effect.forkScoped((yield* makeRetention()).run)
    return undefined
  })
)

const withSpans = <Id, Service extends object>(
  tag: Context.Tag<Id, Service>,
  name: string
): Layer.Layer<Id, never, Id> =>
  Layer.effect(
    tag,
    Effect.map(tag, (service) => {
      const withMethodSpan = (value: unknown, key: string): unknown =>
        Effect.isEffect(value) ? Effect.withSpan(value, `${name}.${key}`, { captureStackTrace: false }) : value
      const methods = Object.entries(service).map(([key, value]) => [
        key,
        typeof value === "function"
          ? (...args: ReadonlyArray<unknown>) => withMethodSpan(value.apply(service, args), key)
          : withMethodSpan(value, key)
      ])
      return Object.assign(Object.create(Object.getPrototypeOf(service)), service, Object.fromEntries(methods))
    })
  )

/**
 * The services with a span around each method that has the method's name, such as `Tickets.create`. Provide it with {@link layer}:
 * `Layer.provideMerge(Workshop.traced, Workshop.layer)`. A span costs time even if nobody receives it, so it is not the default.
 */
export const traced = Layer.mergeAll(
  withSpans(Tickets, "Tickets"),
  withSpans(Progress, "Progress"),
  withSpans(Quotes, "Quotes"),
  withSpans(Clients, "Clients"),
  withSpans(Loyalty, "Loyalty"),
  withSpans(Offers, "Offers"),
  withSpans(Shops, "Shops"),
  withSpans(Keys, "Keys"),
  withSpans(Imports, "Imports"),
  withSpans(Webhooks, "Webhooks"),
  withSpans(DeliveryHistory, "DeliveryHistory"),
  withSpans(Audit, "Audit")
)
