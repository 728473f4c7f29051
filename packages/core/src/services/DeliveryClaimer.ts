import { type Clock, type Context, Duration, Effect } from "effect"
import { ServiceLimits } from "../domain/Limits.js"
import type { Claim, Deliveries } from "../ports/Deliveries.js"
import { readClock } from "../ports/readClock.js"
import type { InFlight } from "./InFlight.js"

const { delivery_slow_after_ms, delivery_slow_factor, delivery_claim_pause_min_ms, delivery_claim_pause_max_ms } =
  ServiceLimits

/** Milliseconds of real time, also where a sandbox's clock is frozen. */
const realNow = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** Deliveries that one claim began. */
interface Batch {
  readonly began_at: number
  running: number
  isQuick: boolean
}

/**
 * Bounds how many deliveries a process has in flight. A delivery that waits for a slow receiver stops counting, so that slow
 * receivers do not hold up the others; only a much higher bound, which protects memory, still counts it (Specification, Webhooks).
 */
class DeliverySlots {
  readonly #most: number
  readonly #quick: Array<Batch> = []
  #quickRunning = 0
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many are free when every delivery counts. */
  get free(): number {
    return this.#most - this.#running
  }

  /** How many are free at a time, in milliseconds, when the slow ones do not count. */
  freeIgnoringSlow(now_ms: number): number {
    while (this.#quick[0] !== undefined && this.#quick[0].began_at <= now_ms - delivery_slow_after_ms) {
      const slow = this.#quick.shift()!
      slow.isQuick = false
      this.#quickRunning -= slow.running
    }
    return Math.min(this.#most - this.#quickRunning, delivery_slow_factor * this.#most - this.#running)
  }

  /** Takes a slot for each delivery of a batch. The result gives one slot back; each delivery calls it once. */
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

/** What a claimer works with. */
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
      const giveBack = slots.take(claims.length, claimed_at)
      yield* Effect.forEach(claims, (claim) => inFlight.begin(attempt(claim), giveBack), { discard: true })
      return claims.length
    })

  // One at a time, because two would fill the same slots; uninterruptible, because a claim that is not begun waits for its lease.
  const dispatching = (freeSlots: (now_ms: number) => number) =>
    oneByOne(Effect.uninterruptible(claimAndBegin(freeSlots)))

  return {
    /** Whether a slot is free when the slow deliveries do not count. */
    hasFreeSlot: readClock((clock) => Effect.sync(() => slots.freeIgnoringSlow(realNow(clock)) > 0)),
    /** Waits a little after the last claim while deliveries are in flight, so that one claim fills many slots: it costs as much as a claim of one. */
    throttle: readClock((clock) => {
      const pause_ms = Math.min(delivery_claim_pause_max_ms, Math.max(delivery_claim_pause_min_ms, took_ms))
      const left_ms = inFlight.count === 0 ? 0 : claimed_at + pause_ms - realNow(clock)
      return left_ms > 0 ? clock.sleep(Duration.millis(Math.min(pause_ms, left_ms))) : Effect.void
    }),
    /** Claims what is due and has a slot, and begins each delivery on its own. Returns how many. */
    dispatch: dispatching(() => slots.free),
    /** The same, where slow deliveries do not count. */
    dispatchIgnoringSlow: dispatching((now_ms) => slots.freeIgnoringSlow(now_ms))
  }
}
