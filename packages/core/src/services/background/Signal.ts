import { Deferred, Effect, FiberId } from "effect"

/** Wakes the fibers that wait for a change, such as new work. */
export class Signal {
  /** Set only while a fiber waits for it. */
  #nextWake: Deferred.Deferred<void> | undefined

  /**
   * Completes at the next wake-up after this property was read. Read it before you query for work, so that you miss no
   * change.
   */
  get nextWake(): Effect.Effect<void> {
    this.#nextWake ??= Deferred.unsafeMake<void>(FiberId.none)
    return Deferred.await(this.#nextWake)
  }

  /** Wakes all waiting fibers. */
  readonly wake = Effect.sync(() => this.unsafeWake())

  /** Wakes all waiting fibers, without an effect. */
  unsafeWake(): void {
    const nextWake = this.#nextWake
    this.#nextWake = undefined
    if (nextWake !== undefined) Deferred.unsafeDone(nextWake, Effect.void)
  }
}
