import { Limits, type SendError, type SendResult, type Timings } from "@workshop/core"
import { type Clock, Effect } from "effect"

type Phase = Exclude<keyof Timings, "total_ms">

const { webhook_response_kept_bytes } = Limits

const NOT_TEXT = /[^\P{C}\n\t]|\uFFFD/gu
// A faster check than `NOT_TEXT`, because most responses match it.
const PLAIN_TEXT = /^[ -~\n\t]*$/
const NOTHING = Buffer.alloc(0)

/** The results of one attempt so far, and the resources that it must release at its end. */
export class AttemptProgress {
  /** The IP address that was dialled last. */
  address: string | null = null
  /** Whether the response ended properly, so that the connection can be reused. */
  canReuse = false
  /** The number of received bytes of the response, including bytes that are not in the excerpt. */
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

  /** The monotonic time in milliseconds. */
  get time_ms(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1e6
  }

  /** Records the duration of a phase if it succeeds. */
  measure<A, E>(phase: Phase, run: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const started_at = this.time_ms
      return Effect.tap(run, () => Effect.sync(() => this.recordDuration(phase, started_at)))
    })
  }

  /** Records the duration of a phase that began at `started_at` and ends now. */
  recordDuration(phase: Phase, started_at: number): void {
    this.#timings[phase] = Math.round(this.time_ms - started_at)
  }

  /** Adds a chunk to the excerpt of the response, up to its maximum size. */
  addToExcerpt(chunk: Buffer): void {
    this.bytes_read += chunk.length
    const remainingBytes = webhook_response_kept_bytes - this.#excerpt_bytes
    if (remainingBytes === 0) return
    // Copies the part, because a subarray would keep the whole chunk in memory.
    const part = Buffer.from(chunk.subarray(0, remainingBytes))
    this.#excerpt.push(part)
    this.#excerpt_bytes += part.length
  }

  /** Registers a function to call at the end of the attempt. After the end, calls it at once. */
  onEnd(release: () => void): void {
    if (this.#hasEnded) release()
    else this.#releases.push(release)
  }

  /** Calls all registered functions, the last first. */
  end(): void {
    this.#hasEnded = true
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) release()
  }

  /** The result of the attempt, for the delivery log. */
  toResult(
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

  /** The excerpt as text without control characters, in UTF-8 not longer than the received bytes. */
  #excerptText(): string {
    const bytes = this.#excerpt.length > 1 ? Buffer.concat(this.#excerpt) : (this.#excerpt[0] ?? NOTHING)
    const text = bytes.toString("utf8").replaceAll("\r\n", "\n")
    return PLAIN_TEXT.test(text) ? text : text.replaceAll(NOT_TEXT, "?")
  }
}
