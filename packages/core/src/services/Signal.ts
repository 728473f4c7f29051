import { Deferred, Effect, FiberId } from "effect"

/** Wakes the fibers that wait for a change, such as new work. */
export class Signal {
  /** Only set while somebody waits for it. */
  #news: Deferred.Deferred<void> | undefined

  /** Returns at the next wake-up, counted from now. Read it before you look for work, so that you miss no change. */
  get news(): Effect.Effect<void> {
    this.#news ??= Deferred.unsafeMake<void>(FiberId.none)
    return Deferred.await(this.#news)
  }

  /** Wakes everybody who waits. */
  readonly wake = Effect.sync(() => this.unsafeWake())

  /** The same at once, for code outside of Effect. */
  unsafeWake(): void {
    const news = this.#news
    this.#news = undefined
    if (news !== undefined) Deferred.unsafeDone(news, Effect.void)
  }
}
