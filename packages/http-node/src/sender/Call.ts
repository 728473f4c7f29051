import type { SendError, Sent, Timings } from "@workshop/core/domain/Attempt"
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
  readonly #started: bigint
  readonly #releases: Array<() => void> = []

  constructor(readonly clock: Clock.Clock) {
    this.#started = clock.unsafeCurrentTimeNanos()
  }

  /** Notes how long a stage takes, if it succeeds. */
  timed<A, E>(stage: Stage, run: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const stop = this.stopwatch(stage)
      return Effect.tap(run, () => Effect.sync(stop))
    })
  }

  /** Starts a stage; call the answer when it is over. */
  stopwatch(stage: Stage): () => void {
    const started = this.clock.unsafeCurrentTimeNanos()
    return () => {
      this.#timings[stage] = this.#since(started)
    }
  }

  /** Noted at once when something is taken: an interruption may come right after. */
  atEnd(release: () => void): void {
    this.#releases.push(release)
  }

  /** Lets go of everything, the last taken first. */
  end(): void {
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) release()
  }

  sent(outcome: { readonly status: number } | { readonly error: SendError; readonly detail: string | null }): Sent {
    return {
      status: null,
      error: null,
      detail: null,
      ...outcome,
      address: this.address,
      timings: { ...this.#timings, total_ms: this.#since(this.#started) },
      head: this.transcript.text()
    }
  }

  #since(started: bigint): number {
    return Math.round(Number(this.clock.unsafeCurrentTimeNanos() - started) / 1e6)
  }
}
