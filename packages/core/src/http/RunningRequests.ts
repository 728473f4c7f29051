import { type Cause, Effect, type Fiber } from "effect"
import { ServiceLimits } from "../domain/Limits.js"
import type { HttpRequest } from "./HttpMessage.js"

// Up to `requests_running_min` requests are always accepted, because they end quickly unless the store is unavailable. After
// `request_burst_ms` the count shows whether the process keeps up.
const { requests_running_min, request_burst_ms, request_count_window_ms } = ServiceLimits

/**
 * Sheds load: refuses requests beyond the number that ended in the last second, because another one would wait for more
 * than a second. Without it, all requests would wait until their clients have given up.
 */
export class RunningRequests {
  #running = 0
  #ended = 0
  #endedInLastWindow = 0
  #windowStart_ms = 0
  /** The time since which the running requests exceed the capacity. */
  #fullSince_ms: number | undefined

  /** Whether another request must be refused. `now_ms` is monotonic real time. */
  isOverloaded(now_ms: number): boolean {
    const elapsed_ms = now_ms - this.#windowStart_ms
    if (elapsed_ms >= request_count_window_ms) {
      this.#endedInLastWindow = elapsed_ms < 2 * request_count_window_ms ? this.#ended : 0
      this.#ended = 0
      this.#windowStart_ms = now_ms
    }
    const capacity = Math.max(requests_running_min, this.#ended, this.#endedInLastWindow)
    // The next burst is accepted once the requests have fallen to half of the capacity.
    if (this.#running < capacity / 2) this.#fullSince_ms = undefined
    if (this.#running < capacity) return false
    this.#fullSince_ms ??= now_ms
    return now_ms - this.#fullSince_ms >= request_burst_ms
  }

  /**
   * Handles a request in a fiber, and counts it as running until its response. While its body arrives it does not
   * count, so that slow clients use no capacity. `onFailure` makes the response to a failure. An observer of the fiber
   * notices if the client disconnects, because `Effect.ensuring` would cost every request four steps of Effect.
   */
  track<A, E>(
    fiber: Fiber.RuntimeFiber<unknown, unknown>,
    request: HttpRequest,
    handle: (request: HttpRequest) => Effect.Effect<A, E>,
    onFailure: (cause: Cause.Cause<E>) => Effect.Effect<A>
  ): Effect.Effect<A> {
    let runningCount = 0
    const count = (next: 0 | 1) => {
      this.#running += next - runningCount
      runningCount = next
    }
    const end = () => {
      fiber.removeObserver(end)
      count(0)
      this.#ended++
    }
    const markEnded = (response: A): A => {
      end()
      return response
    }
    fiber.addObserver(end)
    count(1)
    return Effect.matchCauseEffect(handle(request.method === "GET" ? request : withPausedBody(request, count)), {
      onSuccess: (response) => Effect.succeed(markEnded(response)),
      onFailure: (cause) => Effect.map(onFailure(cause), markEnded)
    })
  }
}

/** The request, with a body that is not counted while it arrives. */
const withPausedBody = (request: HttpRequest, count: (next: 0 | 1) => void): HttpRequest => ({
  ...request,
  body: (max) =>
    Effect.suspend(() => {
      count(0)
      const resumeCount = <A>(result: A): A => {
        count(1)
        return result
      }
      return Effect.mapBoth(request.body(max), { onSuccess: resumeCount, onFailure: resumeCount })
    })
})
