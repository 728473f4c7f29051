import { Effect, Fiber } from "effect"
import { ServiceLimits } from "../../domain/Limits.js"
import { Signal } from "./Signal.js"

/** The deliveries or notifications that a process has in flight, and a way to wait until one of them has finished. */
export class InFlight {
  readonly #fibers = new Set<Fiber.RuntimeFiber<void>>()
  #finished = 0

  /** Wakes the waiting fibers whenever one of the deliveries or notifications has finished. */
  readonly signal = new Signal()

  /** How many are in flight. */
  get count(): number {
    return this.#fibers.size
  }

  /** How many have finished so far. */
  get finishedCount(): number {
    return this.#finished
  }

  /**
   * Runs work in its own fiber. `onFinished` is called when the work ends in any way, before the waiting fibers wake.
   */
  readonly begin = (work: Effect.Effect<void>, onFinished?: () => void): Effect.Effect<void> =>
    Effect.map(Effect.forkDaemon(Effect.interruptible(work)), (fiber) => {
      this.#fibers.add(fiber)
      fiber.addObserver(() => {
        this.#fibers.delete(fiber)
        this.#finished++
        onFinished?.()
        this.signal.unsafeWake()
      })
    })

  /** Interrupts all work; claims stay until their lease ends. */
  readonly interruptAll: Effect.Effect<void> = Effect.suspend(() => Fiber.interruptAll([...this.#fibers]))

  readonly #allFinished: Effect.Effect<void> = Effect.suspend(() =>
    this.count === 0 ? Effect.void : Effect.zipRight(this.signal.nextWake, this.#allFinished)
  )

  /**
   * Runs a loop until it is interrupted. Then it waits for the work in flight, at most `ServiceLimits.stop_grace_ms`, and interrupts the
   * rest.
   */
  readonly finishAfter = <A>(loop: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.ensuring(
      loop,
      Effect.zipRight(
        Effect.timeoutOption(Effect.interruptible(this.#allFinished), ServiceLimits.stop_grace_ms),
        this.interruptAll
      )
    )
}
