import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Clock, Effect, Fiber, Runtime } from "effect"
import type { ServerTimeouts } from "./ServerTimeouts.js"

/** Answers that clients do not take as fast as they are given: each may wait for so long, and all of them hold so much. */
export class UnreadResponses {
  readonly #waiting = new Map<ServerResponse, { readonly socket: Socket; readonly bytes: number }>()
  readonly #fork: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>

  constructor(
    runtime: Runtime.Runtime<never>,
    readonly timeouts: Pick<ServerTimeouts, "taking_ms" | "taken_ms">,
    /** Bytes of answers that may wait, of all connections together. */
    readonly maxUnreadBytes: number
  ) {
    this.#fork = Runtime.runFork(runtime)
  }

  /** An answer of so many bytes was given that the kernel did not take at once. Node counts the characters of a text, not its bytes. */
  watch(response: ServerResponse, socket: Socket, bytes: number): void {
    const { taking_ms, taken_ms } = this.timeouts
    socket.setTimeout(taking_ms)
    this.#waiting.set(response, { socket, bytes })
    const late = this.#fork(
      Effect.sync(() => void socket.destroy()).pipe(Effect.delay(taken_ms), Effect.withClock(Clock.make()))
    )
    response.once("close", () => {
      this.#waiting.delete(response)
      this.#fork(Fiber.interrupt(late))
    })
    this.#drop()
  }

  /** Closes the connections whose answers have waited for longest, until the others hold no more than they may. */
  #drop(): void {
    let held = 0
    for (const { bytes } of this.#waiting.values()) held += bytes
    for (const [response, { socket, bytes }] of this.#waiting) {
      if (held <= this.maxUnreadBytes) return
      held -= bytes
      this.#waiting.delete(response)
      socket.destroy()
    }
  }
}
