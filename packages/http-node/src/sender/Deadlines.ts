import { type Clock, Duration, Effect } from "effect"

interface Due {
  readonly at: number
  readonly passed: () => void
}

/** Deadlines that are all equally far away, so that they pass in the order in which they were set: one timer serves them all. */
export class Deadlines {
  readonly #after_ms: number
  readonly #clock: Clock.Clock
  readonly #due = new Set<Due>()
  #wake: () => void = () => undefined

  constructor(after_ms: number, clock: Clock.Clock) {
    this.#after_ms = after_ms
    this.#clock = clock
  }

  /** Sets a deadline; call the answer to take it back. */
  begin(passed: () => void): () => void {
    const due = { at: this.#time_ms + this.#after_ms, passed }
    this.#due.add(due)
    if (this.#due.size === 1) this.#wake()
    return () => void this.#due.delete(due)
  }

  /** Watches over the deadlines, until interrupted. */
  readonly watch: Effect.Effect<never> = Effect.forever(
    Effect.suspend(() => {
      const [first] = this.#due
      if (first === undefined) return this.#untilSet
      const left_ms = first.at - this.#time_ms
      if (left_ms > 0) return this.#clock.sleep(Duration.millis(Math.ceil(left_ms)))
      this.#due.delete(first)
      first.passed()
      return Effect.void
    })
  )

  readonly #untilSet = Effect.async<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    if (this.#due.size > 0) this.#wake()
  })

  get #time_ms(): number {
    return Number(this.#clock.unsafeCurrentTimeNanos()) / 1e6
  }
}
