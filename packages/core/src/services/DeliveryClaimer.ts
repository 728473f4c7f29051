import { type Clock, type Context, Duration, Effect } from "effect"
import type { Claim, Deliveries } from "../ports/Deliveries.js"
import { readClock } from "../ports/readClock.js"
import { DeliverySlots } from "./DeliverySlots.js"
import type { InFlight } from "./InFlight.js"

/** While much is on its way, claims are at least so far apart, and as far as the last one took, but no farther than the most. */
const LEAST_APART_MS = 1
const MOST_APART_MS = 5

/** Milliseconds that pass also while a sandbox's clock stands. */
const realNow = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** What deliveries take off from. */
export interface ClaimerDeps {
  readonly deliveries: Context.Tag.Service<Deliveries>
  readonly flights: InFlight
  readonly attempt: (claim: Claim) => Effect.Effect<void>
  readonly oneByOne: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly mostInFlight: number
}

/** How claims become deliveries on their way. */
export const deliveryClaimer = ({ deliveries, flights, attempt, oneByOne, mostInFlight }: ClaimerDeps) => {
  const places = new DeliverySlots(mostInFlight)
  let claimed_at = 0
  let took_ms = 0

  const claimAndBegin = (placesLeft: (now_ms: number) => number) =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const began_at = realNow(clock)
      const left = placesLeft(began_at)
      const claims = left > 0 ? yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), left) : []
      claimed_at = realNow(clock)
      took_ms = claimed_at - began_at
      const giveBack = places.take(claims.length, claimed_at)
      yield* Effect.forEach(claims, (claim) => flights.begin(attempt(claim), giveBack), { discard: true })
      return claims.length
    })

  const dispatching = (placesLeft: (now_ms: number) => number) =>
    oneByOne(Effect.uninterruptible(claimAndBegin(placesLeft)))

  return {
    /** Whether another delivery may take off beside those that are slow. */
    hasPlace: readClock((clock) => Effect.sync(() => places.leftBesideSlow(realNow(clock)) > 0)),
    /** Lets landings gather, so that one claim fills the places of many: it costs about the same for one as for all. */
    gather: readClock((clock) => {
      const apart_ms = Math.min(MOST_APART_MS, Math.max(LEAST_APART_MS, took_ms))
      const left_ms = flights.count === 0 ? 0 : claimed_at + apart_ms - realNow(clock)
      return left_ms > 0 ? clock.sleep(Duration.millis(Math.min(apart_ms, left_ms))) : Effect.void
    }),
    /**
     * Sends what is due and fits, each on its own, so that none waits for another. Answers how many that were. One at a
     * time, or two would fill the same free places; and what is claimed takes off, or it would wait for its lease.
     */
    dispatch: dispatching(() => places.left),
    /** The same, where those that wait for slow receivers take no place from the others. */
    dispatchBesideSlow: dispatching((now_ms) => places.leftBesideSlow(now_ms))
  }
}
