import type { SendError, Sent, Timings } from "@workshop/core"
import { type Clock, Effect } from "effect"
import { Transcript } from "./Transcript.js"

type Stage = Exclude<keyof Timings, "total_ms">

/** What one attempt has learnt so far, and what it must let go of at its end, however that comes. */
export class Call {
  /** The address last dialled. */
  address: string | null = null
  /** Whether the answer came to its end in good order, so that the connection may serve again. */
  clean = false
  readonly transcript = new Transcript()
  readonly #timings: Record<Stage, number | null> = {
    lookup_ms: null,
    connect_ms: null,
    tls_ms: null,
    first_byte_ms: null
  }
  readonly #started: number
  readonly #releases: Array<() => void> = []
  #has_ended = false

  constructor(readonly clock: Clock.Clock) {
    this.#started = this.time_ms
  }

  /** Milliseconds of a clock that nobody sets. */
  get time_ms(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1e6
  }

  /** Notes how long a stage takes, if it succeeds. */
  timed<A, E>(stage: Stage, run: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const started = this.time_ms
      return Effect.tap(run, () => Effect.sync(() => this.note(stage, started)))
    })
  }

  /** Notes that a stage is over, and when it began. */
  note(stage: Stage, started: number): void {
    this.#timings[stage] = Math.round(this.time_ms - started)
  }

  /** Noted at once when something is taken: the end may come right after. What is taken later than that is let go at once. */
  atEnd(release: () => void): void {
    if (this.#has_ended) release()
    else this.#releases.push(release)
  }

  /** Lets go of everything, the last taken first. */
  end(): void {
    this.#has_ended = true
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) release()
  }

  sent(outcome: { readonly status: number } | { readonly error: SendError; readonly detail: string | null }): Sent {
    const isAnswered = "status" in outcome
    return {
      status: isAnswered ? outcome.status : null,
      error: isAnswered ? null : outcome.error,
      detail: isAnswered ? null : outcome.detail,
      address: this.address,
      timings: { ...this.#timings, total_ms: Math.round(this.time_ms - this.#started) },
      head: this.transcript.text()
    }
  }
}
