import { Limits, type SendError, type SendResult, type Timings } from "@workshop/core"
import { type Clock, Effect } from "effect"

type Phase = Exclude<keyof Timings, "total_ms">

const { webhook_response_kept_bytes } = Limits

const NOT_TEXT = /[^\P{C}\n\t]|\uFFFD/gu
// Most responses match this, so `NOT_TEXT` need not run.
const PLAIN_TEXT = /^[ -~\n\t]*$/
const NOTHING = Buffer.alloc(0)

/** The findings of one attempt, and the resources that it must release when it ends. */
export class AttemptProgress {
  /** The address that was dialled last. */
  address: string | null = null
  /** Whether the response ended properly, so that the connection may be used again. */
  canReuse = false
  /** Bytes of the response so far, including those that were not kept. */
  bytes_read = 0
  readonly #excerpt: Array<Buffer> = []
  #excerpt_bytes = 0
  readonly #timings: Record<Phase, number | null> = {
    lookup_ms: null,
    connect_ms: null,
    tls_ms: null,
    first_byte_ms: null
  }
  readonly #started_at: number
  readonly #releases: Array<() => void> = []
  #hasEnded = false

  constructor(readonly clock: Clock.Clock) {
    this.#started_at = this.time_ms
  }

  /** Milliseconds of a clock that never goes back. */
  get time_ms(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1e6
  }

  /** Records how long a phase takes, if it succeeds. */
  timed<A, E>(phase: Phase, run: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const started_at = this.time_ms
      return Effect.tap(run, () => Effect.sync(() => this.note(phase, started_at)))
    })
  }

  /** Records that a phase is over, given when it began. */
  note(phase: Phase, started_at: number): void {
    this.#timings[phase] = Math.round(this.time_ms - started_at)
  }

  /** Keeps the start of the response as it came over the wire. */
  keep(chunk: Buffer): void {
    this.bytes_read += chunk.length
    const room = webhook_response_kept_bytes - this.#excerpt_bytes
    if (room === 0) return
    // A copy, so that a small part does not hold the memory of all that was read with it.
    const part = Buffer.from(chunk.subarray(0, room))
    this.#excerpt.push(part)
    this.#excerpt_bytes += part.length
  }

  /** Registers a release for the end of the attempt. After the end, it runs at once. */
  atEnd(release: () => void): void {
    if (this.#hasEnded) release()
    else this.#releases.push(release)
  }

  /** Releases everything, the last first. */
  end(): void {
    this.#hasEnded = true
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) release()
  }

  /** The record as it is stored. */
  sent(
    outcome: { readonly status: number } | { readonly error: SendError; readonly detail: string | null }
  ): SendResult {
    const hasStatus = "status" in outcome
    const { lookup_ms, connect_ms, tls_ms, first_byte_ms } = this.#timings
    const total_ms = Math.round(this.time_ms - this.#started_at)
    return {
      status: hasStatus ? outcome.status : null,
      error: hasStatus ? null : outcome.error,
      detail: hasStatus ? null : outcome.detail,
      address: this.address,
      timings: { lookup_ms, connect_ms, tls_ms, first_byte_ms, total_ms },
      head: this.#excerptText()
    }
  }

  /** The excerpt without control characters, and not longer in UTF-8 than it was. */
  #excerptText(): string {
    const bytes = this.#excerpt.length > 1 ? Buffer.concat(this.#excerpt) : (this.#excerpt[0] ?? NOTHING)
    const text = bytes.toString("utf8").replaceAll("\r\n", "\n")
    return PLAIN_TEXT.test(text) ? text : text.replaceAll(NOT_TEXT, "?")
  }
}
