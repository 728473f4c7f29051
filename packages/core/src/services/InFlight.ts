import { Deferred, Effect, Fiber, FiberId } from "effect"

/** The deliveries that a process has on their way, and the means to wait until one of them has landed. */
export class InFlight {
  readonly #fibers = new Set<Fiber.RuntimeFiber<void>>()
  /** Only while somebody may wait for it. */
  #news: Deferred.Deferred<void> | undefined
  #landed = 0

  /** How many are on their way. */
  get count(): number {
    return this.#fibers.size
  }

  /** How many have landed so far. */
  get landed(): number {
    return this.#landed
  }

  /** Returns at the next landing or ring, counted from now: take it before looking at anything, and none is missed. */
  get news(): Effect.Effect<void> {
    this.#news ??= Deferred.unsafeMake<void>(FiberId.none)
    return Deferred.await(this.#news)
  }

  /** Wakes whoever waits for news. */
  readonly ring = Effect.sync(() => this.#wake())

  /** Takes off on its own; nobody waits for it, and it lands whatever happens. `onLanding` is told so before all others. */
  readonly begin = (flight: Effect.Effect<void>, onLanding?: () => void): Effect.Effect<void> =>
    Effect.map(Effect.forkDaemon(Effect.interruptible(flight)), (fiber) => {
      this.#fibers.add(fiber)
      fiber.addObserver(() => {
        this.#fibers.delete(fiber)
        this.#landed++
        onLanding?.()
        this.#wake()
      })
    })

  /** Returns when none is on its way. */
  readonly allLanded: Effect.Effect<void> = Effect.suspend(() =>
    this.count === 0 ? Effect.void : Effect.zipRight(this.news, this.allLanded)
  )

  /** Interrupts those on their way: what they carried is left to its lease. */
  readonly letGo: Effect.Effect<void> = Effect.suspend(() => Fiber.interruptAll([...this.#fibers]))

  #wake(): void {
    const news = this.#news
    this.#news = undefined
    if (news !== undefined) Deferred.unsafeDone(news, Effect.void)
  }
}
