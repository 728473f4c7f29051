import { Clock, Effect, Layer } from "effect"
import type { Instant } from "../domain/Instant.js"

/** A Friday morning, the default start of tests. */
export const TEST_START: Instant = Date.UTC(2026, 10, 20, 10, 20, 42, 123)

/**
 * A clock whose time changes only when it is set or advanced, also backwards. Sleeping takes real time, so that
 * connection pools, time-outs and retries of a store under test work while the clock is frozen.
 */
export class SettableClock implements Clock.Clock {
  /** The mark by which Effect recognises a clock. */
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  /** The time that was set last, in milliseconds since 1970. */
  readonly currentTimeMillis = Effect.sync(() => this.#now)
  /** The time that was set last, in nanoseconds since 1970. */
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())
  /** Sleeps in real time. */
  readonly sleep = Clock.make().sleep
  #now: Instant

  constructor(now: Instant = TEST_START) {
    this.#now = now
  }

  /** The time that was set last, in milliseconds since 1970. */
  unsafeCurrentTimeMillis(): Instant {
    return this.#now
  }

  /** The time that was set last, in nanoseconds since 1970. */
  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.#now) * 1_000_000n
  }

  /** Sets the clock, possibly to an earlier time. */
  set(now: Instant): void {
    this.#now = now
  }

  /** Moves the clock forwards, or backwards if `ms` is negative. */
  advance(ms: number): void {
    this.#now += ms
  }

  /** A layer with this clock. */
  get layer(): Layer.Layer<never> {
    return Layer.setClock(this)
  }

  /** The clock of the running effect, which must be a `SettableClock`. */
  static readonly current: Effect.Effect<SettableClock> = Effect.clockWith((clock) =>
    clock instanceof SettableClock
      ? Effect.succeed(clock)
      : Effect.dieMessage("The contract suite needs a SettableClock: run it with runContract, or on `clock.layer`")
  )
}
