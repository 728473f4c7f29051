import { type Clock, type Context, Duration, Effect } from "effect"
import { ServiceLimits } from "../../domain/Limits.js"
import type { Claim, Deliveries } from "../../ports/StorePorts.js"
import type { InFlight } from "./InFlight.js"

const { delivery_slow_after_ms, delivery_slow_factor, delivery_claim_pause_min_ms, delivery_claim_pause_max_ms } =
  ServiceLimits

/** Milliseconds of real time, even if a sandbox's clock is frozen. */
const realNow = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The deliveries that one claim started. */
interface Batch {
  readonly began_at: number
  running: number
  /** Whether the batch occupies slots, which is false once it waits for a slow receiver. */
  occupiesSlots: boolean
}

/**
 * Limits how many deliveries a process has in flight. A delivery that waits for a slow receiver stops counting, so that slow receivers do
 * not delay the others; only a much higher limit, which protects memory, still counts it (Specification, Webhooks).
 */
class DeliverySlots {
  readonly #max: number
  readonly #occupying: Array<Batch> = []
  #occupied = 0
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  /** How many slots are free if every delivery counts. */
  get free(): number {
    return this.#max - this.#running
  }

  /** How many slots are free at an instant (in milliseconds) if slow deliveries do not count. */
  freeIgnoringSlow(now_ms: number): number {
    while (this.#occupying[0] !== undefined && this.#occupying[0].began_at <= now_ms - delivery_slow_after_ms) {
      const slow = this.#occupying.shift()!
      slow.occupiesSlots = false
      this.#occupied -= slow.running
    }
    return Math.min(this.#max - this.#occupied, delivery_slow_factor * this.#max - this.#running)
  }

  /** Takes a slot for each delivery of a batch. The result frees one slot; each delivery calls it once. */
  take(count: number, now_ms: number): () => void {
    const batch: Batch = { began_at: now_ms, running: count, occupiesSlots: true }
    if (count > 0) this.#occupying.push(batch)
    this.#running += count
    this.#occupied += count
    return () => {
      this.#running--
      batch.running--
      if (batch.occupiesSlots) this.#occupied--
    }
  }
}

/** The dependencies of a claimer. */
export interface ClaimerDeps {
  readonly deliveries: Context.Tag.Service<Deliveries>
  readonly inFlight: InFlight
  readonly attempt: (claim: Claim) => Effect.Effect<void>
  readonly serially: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly maxInFlight: number
}

/** Claims due deliveries and starts their attempts. */
export const makeDeliveryClaimer = ({ deliveries, inFlight, attempt, serially, maxInFlight }: ClaimerDeps) => {
  const slots = new DeliverySlots(maxInFlight)
  let claimed_at = 0
  let took_ms = 0

  const claimAndBegin = (freeSlots: (now_ms: number) => number) =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const began_at = realNow(clock)
      const freeCount = freeSlots(began_at)
      const claims = freeCount > 0 ? yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), freeCount) : []
      claimed_at = realNow(clock)
      took_ms = claimed_at - began_at
      const freeSlot = slots.take(claims.length, claimed_at)
      yield* Effect.forEach(claims, (claim) => inFlight.begin(attempt(claim), freeSlot), { discard: true })
      return claims.length
    })

  // Only one claim runs at a time, because two would fill the same slots. It is uninterruptible, because claimed
  // deliveries without an attempt would wait until their lease ends.
  const dispatchWith = (freeSlots: (now_ms: number) => number) =>
    serially(Effect.uninterruptible(claimAndBegin(freeSlots)))

  return {
    /** Whether a slot is free if slow deliveries do not count. */
    hasFreeSlot: Effect.clockWith((clock) => Effect.sync(() => slots.freeIgnoringSlow(realNow(clock)) > 0)),
    /**
     * While deliveries are in flight, waits a little after the last claim, so that one claim fills many slots. A claim of many deliveries
     * costs as much as a claim of one.
     */
    throttle: Effect.clockWith((clock) => {
      const pause_ms = Math.min(delivery_claim_pause_max_ms, Math.max(delivery_claim_pause_min_ms, took_ms))
      const left_ms = inFlight.count === 0 ? 0 : claimed_at + pause_ms - realNow(clock)
      return left_ms > 0 ? clock.sleep(Duration.millis(Math.min(pause_ms, left_ms))) : Effect.void
    }),
    /**
     * Claims as many due deliveries as there are free slots, and starts each in its own fiber. Returns their number.
     */
    dispatch: dispatchWith(() => slots.free),
    /** Like `dispatch`, but slow deliveries occupy no slots. */
    dispatchIgnoringSlow: dispatchWith((now_ms) => slots.freeIgnoringSlow(now_ms))
  }
}
