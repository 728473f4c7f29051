import { Effect } from "effect"
import type { HttpRequest } from "./HttpMessage.js"

/** So many requests may always run: they are over soon, unless the store cannot be reached. */
const ALWAYS = 32
/** How long a burst is taken whole. Whether the requests of a longer one end in time is known by then. */
const BURST_NS = 500_000_000n
/** The time in which ended requests are counted. */
const WINDOW_NS = 1_000_000_000n

/**
 * The requests that run. When more run than ended in the last second, another one would wait for longer than that. So it is refused at
 * once, and the others end in time. Otherwise, beyond the capacity of the service, all would wait until their clients have given up.
 */
export class RunningRequests {
  #running = 0
  #ended = 0
  #endedBefore = 0
  #began_ns = 0n
  /** Since when too many run. */
  #full_ns: bigint | undefined

  /** Whether another request is to be refused. `now_ns` is real time. */
  areTooMany(now_ns: bigint): boolean {
    const elapsed_ns = now_ns - this.#began_ns
    if (elapsed_ns >= WINDOW_NS) {
      this.#endedBefore = elapsed_ns < 2n * WINDOW_NS ? this.#ended : 0
      this.#ended = 0
      this.#began_ns = now_ns
    }
    const most = Math.max(ALWAYS, this.#ended, this.#endedBefore)
    // Half as many have to end before the next burst is taken whole.
    if (this.#running < most / 2) this.#full_ns = undefined
    if (this.#running < most) return false
    this.#full_ns ??= now_ns
    return now_ns - this.#full_ns >= BURST_NS
  }

  /** Counts a request while it is answered. */
  counting<A>(answer: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      this.#running++
      return Effect.ensuring(
        answer,
        Effect.sync(() => {
          this.#running--
          this.#ended++
        })
      )
    })
  }

  /** A request that is not counted while its body arrives, so that clients who send slowly take nobody's place. */
  whileBodyArrives(request: HttpRequest): HttpRequest {
    if (request.method === "GET") return request
    return {
      ...request,
      body: (most) =>
        Effect.suspend(() => {
          this.#running--
          return Effect.ensuring(
            request.body(most),
            Effect.sync(() => {
              this.#running++
            })
          )
        })
    }
  }
}
