import { type Clock, Duration, Effect } from "effect"

interface Deadline {
  readonly at: number
  readonly onPassed: () => void
}

/** Deadlines with the same duration, which therefore pass in the order in which they were set. All share one timer. */
export class Deadlines {
  readonly #after_ms: number
  readonly #clock: Clock.Clock
  readonly #pending = new Set<Deadline>()
  #wake: () => void = () => undefined

  constructor(after_ms: number, clock: Clock.Clock) {
    this.#after_ms = after_ms
    this.#clock = clock
  }

  /** Sets a deadline, and returns a function that cancels it. */
  set(onPassed: () => void): () => void {
    const deadline = { at: this.#time_ms + this.#after_ms, onPassed }
    this.#pending.add(deadline)
    if (this.#pending.size === 1) this.#wake()
    return () => void this.#pending.delete(deadline)
  }

  /** Waits for one deadline after another, until interrupted. */
  readonly watch: Effect.Effect<never> = Effect.forever(
    Effect.suspend(() => {
      const [first] = this.#pending
      if (first === undefined) return this.#untilSet
      const left_ms = first.at - this.#time_ms
      if (left_ms > 0) return this.#clock.sleep(Duration.millis(Math.ceil(left_ms)))
      this.#pending.delete(first)
      first.onPassed()
      return Effect.void
    })
  )

  readonly #untilSet = Effect.async<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    if (this.#pending.size > 0) this.#wake()
  })

  get #time_ms(): number {
    return Number(this.#clock.unsafeCurrentTimeNanos()) / 1e6
  }
}
