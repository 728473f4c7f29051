import { Deferred, Effect, FiberId } from "effect"

/** The deliveries that a process has on their way, and the means to wait until one of them has landed. */
export class Flights {
  #count = 0
  #landing = Deferred.unsafeMake<void>(FiberId.none)

  /** How many are on their way. */
  get count(): number {
    return this.#count
  }

  /** Takes off on its own; nobody waits for it, and it lands whatever happens. */
  readonly begin = (flight: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.#count++
      return Effect.forkDaemon(Effect.ensuring(Effect.interruptible(flight), this.#land))
    })

  /** Returns when the next one has landed, counted from now: take it before looking at the count, and none is missed. */
  get nextLanding(): Effect.Effect<void> {
    return Deferred.await(this.#landing)
  }

  readonly #land = Effect.suspend(() => {
    const landed = this.#landing
    this.#count--
    this.#landing = Deferred.unsafeMake(FiberId.none)
    return Deferred.succeed(landed, undefined)
  })
}
