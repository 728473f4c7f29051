import * as Http from "node:http"
import { type CannotListen, listen } from "@workshop/http-node/listen"
import { Effect, Fiber, Runtime, type Scope } from "effect"
import { baseOf } from "../terminal/listenAddress.js"

/** Answers one request; interrupted when the other side leaves. */
type Handle = (request: Http.IncomingMessage, response: Http.ServerResponse) => Effect.Effect<void>

interface Place {
  readonly host: string
  readonly port: number
}

const stop = (server: Http.Server) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Serves a handler until the scope closes, and then cuts off whoever is connected. Answers the address to reach it at. */
export const listening = (place: Place, handle: Handle): Effect.Effect<string, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const server = Http.createServer((request, response) => {
      const fiber = fork(handle(request, response))
      // Whoever leaves in the middle of a body is no error of the receiver's.
      request.on("error", () => undefined)
      response.on("error", () => undefined)
      response.once("close", () => fork(Fiber.interruptFork(fiber)))
    })
    const { port } = yield* Effect.acquireRelease(listen(server, place), () => stop(server))
    return `${baseOf(place.host, port)}/`
  })
