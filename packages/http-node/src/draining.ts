import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"
import { Clock, Effect, Fiber, Schedule, type Scope } from "effect"
import { SERVER_TIMEOUTS } from "./serverLimits.js"

/** Waits for one iteration of the event loop, in which node accepts the connections that the kernel has queued. */
const waitForEventLoop = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Stops listening, but closes no connection. `Http.Server.close` would also close idle connections on which a client is
 * sending its next request.
 */
const stopListening = (server: Server) =>
  Effect.async<void>((resume) => {
    NetServer.prototype.close.call(server, () => resume(Effect.void))
  })

/**
 * Stops accepting connections, and completes when all are closed. Calls `afterArrivals` after the time in which
 * requests that clients are sending can arrive. Calls `onTimeout` if connections are still open after `timeoutMs` in
 * real time.
 */
export const closeServer = (
  server: Server,
  { drainArrivalMs = SERVER_TIMEOUTS.drainArrivalMs, timeoutMs, afterArrivals, onTimeout }: CloseOptions
): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* Effect.zipRight(waitForEventLoop, waitForEventLoop)
    const closeFiber = yield* Effect.fork(stopListening(server))
    yield* Effect.raceFirst(Fiber.join(closeFiber), Effect.sleep(drainArrivalMs))
    yield* afterArrivals
    yield* Fiber.join(closeFiber)
  }).pipe(
    // The timeout must interrupt this finalizer, which is uninterruptible by default.
    Effect.interruptible,
    Effect.timeoutTo({ duration: timeoutMs, onSuccess: () => undefined, onTimeout }),
    // The timeouts use real time, even if the service uses another clock.
    Effect.withClock(Clock.make())
  )

interface CloseOptions {
  readonly drainArrivalMs?: number
  readonly timeoutMs: number
  readonly afterArrivals: Effect.Effect<unknown>
  readonly onTimeout: () => void
}

/** The options of {@link drainOnClose}. */
export interface DrainOptions {
  /** The time that running requests have to finish, in milliseconds of real time; 7,000 by default. */
  readonly timeoutMs?: number
}

/**
 * Makes your own server stop without losing requests, as `workshop serve` does. When the scope closes, the server
 * accepts no more connections, each response closes its connection, and running requests have `timeoutMs` to finish; then their connections are closed. Add it after the routes, so that it ends before them. Node
 * alone waits indefinitely for clients that keep their connections open.
 */
export const drainOnClose = (server: Server, options: DrainOptions = {}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const openResponses = new Set<ServerResponse>()
    const onRequest = (_: IncomingMessage, response: ServerResponse) => {
      if (!server.listening) response.shouldKeepAlive = false
      openResponses.add(response)
      response.once("close", () => openResponses.delete(response))
    }
    const drain = closeServer(server, {
      timeoutMs: options.timeoutMs ?? SERVER_TIMEOUTS.stoppingMs,
      afterArrivals: Effect.suspend(() => {
        for (const response of openResponses) response.shouldKeepAlive = false
        // Repeated, because a connection whose response has already begun becomes idle only later.
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
