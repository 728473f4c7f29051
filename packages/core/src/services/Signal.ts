import { Deferred, Effect, FiberId } from "effect"

/** Wakes the fibers that wait for a change, such as new work. */
export class Signal {
  /** Only set while somebody waits for it. */
  #nextWake: Deferred.Deferred<void> | undefined

  /** Returns at the next wake-up, counted from now. Read it before you look for work, so that you miss no change. */
  get nextWake(): Effect.Effect<void> {
    this.#nextWake ??= Deferred.unsafeMake<void>(FiberId.none)
    return Deferred.await(this.#nextWake)
  }

  /** Wakes everybody who waits. */
  readonly wake = Effect.sync(() => this.unsafeWake())

  /** The same without Effect. */
  unsafeWake(): void {
    const nextWake = this.#nextWake
    this.#nextWake = undefined
    if (nextWake !== undefined) Deferred.unsafeDone(nextWake, Effect.void)
  }
}
