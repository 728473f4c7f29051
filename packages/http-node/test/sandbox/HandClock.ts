import { Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * A replacement for the machine's clock. Its time changes only when the test calls `pass`, which wakes the fibers whose
 * sleep is over.
 */
export class HandClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly currentTimeMillis = Effect.sync(() => this.#now)
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())
  #now: number
  #sleepers: Array<Sleeper> = []

  constructor(now: number) {
    this.#now = now
  }

  readonly sleep = (duration: Duration.Duration) =>
    Effect.async<void>((resume) => {
      const sleeper = { at: this.#now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
      this.#sleepers.push(sleeper)
      return Effect.sync(() => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
      })
    })

  unsafeCurrentTimeMillis(): number {
    return this.#now
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.#now) * 1_000_000n
  }

  /** Whether a fiber sleeps until exactly `ms` from now. */
  hasSleeper(ms: number): boolean {
    return this.#sleepers.some(({ at }) => at === this.#now + ms)
  }

  /** Advances the clock by `ms`, or sets it back if `ms` is negative. */
  pass(ms: number): void {
    this.#now += ms
    const awake = this.#sleepers.filter(({ at }) => at <= this.#now)
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now)
    for (const { wake } of awake) wake()
  }
}
