import { type Cause, Effect, Exit, type Fiber } from "effect"
import type { HttpRequest } from "./HttpMessage.js"

/** So many requests may always run: they are over soon, unless the store cannot be reached. */
const ALWAYS = 32
/** How long a burst is taken whole. Whether the requests of a longer one end in time is known by then. */
const BURST_MS = 500
/** The time in which ended requests are counted. */
const WINDOW_MS = 1_000

/**
 * The requests that run. When more run than ended in the last second, another one would wait for longer than that. So it is refused at
 * once, and the others end in time. Otherwise, beyond the capacity of the service, all would wait until their clients have given up.
 */
export class RunningRequests {
  #running = 0
  #ended = 0
  #endedBefore = 0
  #began_ms = 0
  /** Since when too many run. */
  #full_ms: number | undefined

  /** Whether another request is to be refused. `now_ms` is real time that never steps. */
  areTooMany(now_ms: number): boolean {
    const elapsed_ms = now_ms - this.#began_ms
    if (elapsed_ms >= WINDOW_MS) {
      this.#endedBefore = elapsed_ms < 2 * WINDOW_MS ? this.#ended : 0
      this.#ended = 0
      this.#began_ms = now_ms
    }
    const most = Math.max(ALWAYS, this.#ended, this.#endedBefore)
    // Half as many have to end before the next burst is taken whole.
    if (this.#running < most / 2) this.#full_ms = undefined
    if (this.#running < most) return false
    this.#full_ms ??= now_ms
    return now_ms - this.#full_ms >= BURST_MS
  }

  /**
   * Counts a request of a fiber until its response, but not while its body arrives, so that clients who send slowly take nobody's place.
   * `onFailure` is the response to a request that fails. If the client leaves, its fiber says that the request is over: `Effect.ensuring`
   * would cost every request four steps of Effect.
   */
  counting<A, E>(
    fiber: Fiber.RuntimeFiber<unknown, unknown>,
    request: HttpRequest,
    answer: (request: HttpRequest) => Effect.Effect<A, E>,
    onFailure: (cause: Cause.Cause<E>) => Effect.Effect<A>
  ): Effect.Effect<A> {
    let counted = 0
    const count = (next: 0 | 1) => {
      this.#running += next - counted
      counted = next
    }
    const end = () => {
      fiber.removeObserver(end)
      count(0)
      this.#ended++
    }
    const ended = (response: A): A => {
      end()
      return response
    }
    fiber.addObserver(end)
    count(1)
    return Effect.matchCauseEffect(answer(request.method === "GET" ? request : outsideOfBody(request, count)), {
      onSuccess: (response) => Effect.succeed(ended(response)),
      onFailure: (cause) => Effect.map(onFailure(cause), ended)
    })
  }
}

/** A request that says whether it counts: not while its body arrives. */
const outsideOfBody = (request: HttpRequest, count: (next: 0 | 1) => void): HttpRequest => ({
  ...request,
  body: (most) => {
    const reading = request.body(most)
    if (Exit.isExit(reading)) return reading
    return Effect.suspend(() => {
      count(0)
      const arrived = <A>(result: A): A => {
        count(1)
        return result
      }
      return Effect.mapBoth(reading, { onSuccess: arrived, onFailure: arrived })
    })
  }
})
