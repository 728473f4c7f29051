import { Deferred, Effect, Fiber, FiberId } from "effect"
import { ServiceLimits } from "../domain/Limits.js"

/** The deliveries or notifications that a process has in flight, and the means to wait until one of them has finished. */
export class InFlight {
  readonly #fibers = new Set<Fiber.RuntimeFiber<void>>()
  /** Only while somebody may wait for it. */
  #news: Deferred.Deferred<void> | undefined
  #finished = 0

  /** How many are in flight. */
  get count(): number {
    return this.#fibers.size
  }

  /** How many have finished so far. */
  get finished(): number {
    return this.#finished
  }

  /** Returns when the next one finishes, or at the next `wake`, counted from now: read it before looking for work, and no change is missed. */
  get news(): Effect.Effect<void> {
    this.#news ??= Deferred.unsafeMake<void>(FiberId.none)
    return Deferred.await(this.#news)
  }

  /** Wakes all who wait for news. */
  readonly wake = Effect.sync(() => this.#wake())

  /** Runs work on its own. `onFinished` is called when it ends, in whatever way, before those who wait for news are woken. */
  readonly begin = (work: Effect.Effect<void>, onFinished?: () => void): Effect.Effect<void> =>
    Effect.map(Effect.forkDaemon(Effect.interruptible(work)), (fiber) => {
      this.#fibers.add(fiber)
      fiber.addObserver(() => {
        this.#fibers.delete(fiber)
        this.#finished++
        onFinished?.()
        this.#wake()
      })
    })

  /** Interrupts all: what they had claimed is left to its lease. */
  readonly interruptAll: Effect.Effect<void> = Effect.suspend(() => Fiber.interruptAll([...this.#fibers]))

  readonly #allFinished: Effect.Effect<void> = Effect.suspend(() =>
    this.count === 0 ? Effect.void : Effect.zipRight(this.news, this.#allFinished)
  )

  /** Runs a loop until it is interrupted; then waits for what is in flight, for `ServiceLimits.stop_grace_ms` at most, and interrupts the rest. */
  readonly finishAfter = <A>(loop: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.ensuring(
      loop,
      Effect.zipRight(
        Effect.timeoutOption(Effect.interruptible(this.#allFinished), ServiceLimits.stop_grace_ms),
        this.interruptAll
      )
    )

  #wake(): void {
    const news = this.#news
    this.#news = undefined
    if (news !== undefined) Deferred.unsafeDone(news, Effect.void)
  }
}
