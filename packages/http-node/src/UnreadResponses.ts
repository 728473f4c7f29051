import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Clock, Effect, Fiber, Runtime } from "effect"
import type { ServerTimeouts } from "./serverLimits.js"

/**
 * The responses that clients read too slowly. Each has a timeout, and all together have a limit on their unread bytes.
 */
export class UnreadResponses {
  readonly #waiting = new Map<ServerResponse, { readonly socket: Socket; readonly bytes: number }>()
  readonly #fork: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>

  constructor(
    runtime: Runtime.Runtime<never>,
    readonly timeouts: Pick<ServerTimeouts, "responseStallMs" | "responseTotalMs">,
    /** The maximum of unread bytes of all connections together. */
    readonly maxUnreadBytes: number
  ) {
    this.#fork = Runtime.runFork(runtime)
  }

  /**
   * Watches a response that the kernel did not accept whole. `bytes` is passed in, because node counts a text's
   * characters, not its bytes.
   */
  watch(response: ServerResponse, socket: Socket, bytes: number): void {
    const { responseStallMs, responseTotalMs } = this.timeouts
    socket.setTimeout(responseStallMs)
    this.#waiting.set(response, { socket, bytes })
    const lateTimer = this.#fork(
      Effect.sync(() => void socket.destroy()).pipe(Effect.delay(responseTotalMs), Effect.withClock(Clock.make()))
    )
    response.once("close", () => {
      this.#waiting.delete(response)
      this.#fork(Fiber.interrupt(lateTimer))
    })
    this.#drop()
  }

  /** Closes connections, those with the oldest unread responses first, until the others are within the limit. */
  #drop(): void {
    let heldBytes = 0
    for (const { bytes } of this.#waiting.values()) heldBytes += bytes
    for (const [response, { socket, bytes }] of this.#waiting) {
      if (heldBytes <= this.maxUnreadBytes) return
      heldBytes -= bytes
      this.#waiting.delete(response)
      socket.destroy()
    }
  }
}
