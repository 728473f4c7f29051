import { Clock, Context, Effect, Layer, Option } from "effect"
import { type Instant, LAST_INSTANT } from "../domain/Instant.js"

/**
 * A clock that runs along with a real one, ahead of it by however far it was moved, or stands. It never goes back,
 * also where the real clock does, and stays within the year 9999.
 *
 * Only the time it tells can be moved. Sleeping and the nanoseconds, by which durations are measured, are the real
 * clock's: loops and time-outs go on while this clock stands (Specification, Webhooks). So a loop that looks for what is due once a
 * second finds it within a second however the clock was moved, and nothing waits for a time that will not come.
 */
export class MovableClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos: Effect.Effect<bigint>
  readonly sleep: Clock.Clock["sleep"]
  readonly #real: Clock.Clock
  #ahead_ms = 0
  #stands = false
  #frozen = false
  /** The latest time told, and where the clock stands while it does. */
  #now: Instant

  constructor(real: Clock.Clock) {
    this.#real = real
    this.#now = real.unsafeCurrentTimeMillis()
    this.sleep = (duration) => real.sleep(duration)
    this.currentTimeNanos = real.currentTimeNanos
  }

  unsafeCurrentTimeMillis(): Instant {
    if (!this.#stands) this.#reach(this.#real.unsafeCurrentTimeMillis() + this.#ahead_ms)
    return this.#now
  }

  unsafeCurrentTimeNanos(): bigint {
    return this.#real.unsafeCurrentTimeNanos()
  }

  /** Whether the clock was told to stand; a walk that holds it for a while does not count. */
  get frozen(): boolean {
    return this.#frozen
  }

  /** Lets the clock stand at an instant, or where it is if that is later, until it is released. */
  holdAt(instant: Instant): void {
    this.unsafeCurrentTimeMillis()
    this.#stands = true
    this.#reach(instant)
  }

  /** From where it is, the clock stands on if it is to be frozen, and otherwise runs along again. */
  release(frozen: boolean): void {
    this.unsafeCurrentTimeMillis()
    this.#frozen = frozen
    this.#stands = frozen
    this.#ahead_ms = this.#now - this.#real.unsafeCurrentTimeMillis()
  }

  #reach(instant: Instant): void {
    this.#now = Math.min(LAST_INSTANT, Math.max(this.#now, instant))
  }
}

/** The movable clock of this process, for those who move it; everybody else has Effect's `Clock` (Specification, Sandbox). */
export class SandboxClock extends Context.Tag("@workshop/core/SandboxClock")<SandboxClock, MovableClock>() {
  /** Sets the clock of whatever is built on this layer, and of what runs there. The clock beneath is taken for the real one. */
  static readonly layer: Layer.Layer<SandboxClock> = Layer.unwrapEffect(
    Effect.map(Effect.clock, (real) => {
      const clock = new MovableClock(real)
      return Layer.merge(Layer.succeed(SandboxClock, clock), Layer.setClock(clock))
    })
  )
}

/** Whether the process is a sandbox: its time can be moved, so nothing that it keeps is in earnest (Specification, Keys and scopes). */
export const inSandbox: Effect.Effect<boolean> = Effect.map(Effect.serviceOption(SandboxClock), Option.isSome)
