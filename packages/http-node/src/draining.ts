import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"
import { Clock, type Duration, Effect, Fiber, Schedule, type Scope } from "effect"
import { SERVER_TIMEOUTS } from "./serverLimits.js"

/** A turn of the event loop, in which node takes the connections that the kernel has accepted already. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Only stops listening: `Http.Server.close` would also close persistent connections whose next request is being sent. */
const stopListening = (server: Server) =>
  Effect.async<void>((resume) => {
    NetServer.prototype.close.call(server, () => resume(Effect.void))
  })

/**
 * Stops accepting connections, and ends when all are closed. `afterArrivals` is called once requests that were being sent had their time to arrive.
 * `onTimeout` is called if connections are open still after `longest`, a real time.
 */
export const closing = (
  server: Server,
  { drain_arrival_ms = SERVER_TIMEOUTS.drain_arrival_ms, longest, afterArrivals, onTimeout }: Closing
): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* Effect.zipRight(turn, turn)
    const closed = yield* Effect.fork(stopListening(server))
    yield* Effect.raceFirst(Fiber.join(closed), Effect.sleep(drain_arrival_ms))
    yield* afterArrivals
    yield* Fiber.join(closed)
  }).pipe(
    // By default a finalizer cannot be interrupted, and so has no timeout.
    Effect.interruptible,
    Effect.timeoutTo({ duration: longest, onSuccess: () => undefined, onTimeout }),
    // The timeouts are real time, whichever clock the service uses.
    Effect.withClock(Clock.make())
  )

interface Closing {
  readonly drain_arrival_ms?: number
  readonly longest: Duration.DurationInput
  readonly afterArrivals: Effect.Effect<unknown>
  readonly onTimeout: () => void
}

/**
 * Lets a server of your own end without losing requests, as `workshop serve` does. When the scope closes, the server accepts no more
 * connections, each response closes its connection, and requests that run have `longest` (default 7 seconds) to finish; then their
 * connections are closed. Open it after the routes, so that it ends before them. Node alone waits without a bound for clients that keep their
 * connections open.
 */
export const draining = (
  server: Server,
  longest: Duration.DurationInput = SERVER_TIMEOUTS.stopping_ms
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const running = new Set<ServerResponse>()
    const onRequest = (_: IncomingMessage, response: ServerResponse) => {
      if (!server.listening) response.shouldKeepAlive = false
      running.add(response)
      response.once("close", () => running.delete(response))
    }
    const drain = closing(server, {
      longest,
      afterArrivals: Effect.suspend(() => {
        for (const response of running) response.shouldKeepAlive = false
        // Again and again, for the connections whose response had begun before.
        return Effect.fork(
          Effect.repeat(
            Effect.sync(() => server.close()),
            Schedule.spaced("50 millis")
          )
        )
      }),
      onTimeout: () => server.closeAllConnections()
    })
    server.prependListener("request", onRequest)
    return Effect.addFinalizer(() =>
      Effect.ensuring(
        drain,
        Effect.sync(() => server.off("request", onRequest))
      )
    )
  })
