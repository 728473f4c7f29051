import * as Http from "node:http"
import type { CannotListen } from "@workshop/http-node"
import { baseOf, listen as listenOn } from "@workshop/http-node/internal"
import { Clock, Effect, Fiber, Runtime, Schedule, type Scope } from "effect"

/** A request as it reached a receiver. */
export interface IncomingRequest {
  readonly method: string
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  /** The bytes of the body; null if it is larger than {@link MAX_BODY_BYTES}. */
  readonly body: Buffer | null
  /** True if the connection had carried another request before. */
  readonly isKept: boolean
}

/** The reply of a receiver. */
export type Reply =
  /** A status, and nothing else unless there is a text. */
  | { readonly kind: "status"; readonly status: number; readonly text?: string }
  /** A redirect to another address, 307 by default, which no sender may follow (Specification, Webhooks). */
  | { readonly kind: "redirect"; readonly to: string; readonly status?: number }
  /** 200 with a body that never ends. */
  | { readonly kind: "endless" }
  /** 200 with an endless body of one byte per second. */
  | { readonly kind: "trickle" }
  /** No response; the connection stays open. */
  | { readonly kind: "silent" }
  /** The connection is cut. */
  | { readonly kind: "cut" }

/** Returns the reply to a request, and the delay before it in real milliseconds. */
export type Handler = (
  incoming: IncomingRequest
) => Effect.Effect<{ readonly reply: Reply; readonly delay_ms?: number }>

/** A status and nothing else. */
export const statusReply = (status: number): Reply => ({ kind: "status", status })

/** The largest body that a receiver reads, in bytes. */
export const MAX_BODY_BYTES = 1_048_576

/** Reads a body to its end. The effect never ends if the sender closes the connection. */
const readBody = (request: Http.IncomingMessage): Effect.Effect<Buffer | null> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BODY_BYTES) chunks.push(chunk)
      else {
        request.off("data", onData).resume()
        resume(Effect.succeed(null))
      }
    }
    request.on("data", onData).once("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })

const CHUNK = Buffer.alloc(16_384, ".")

/** Writes as fast as the client reads, until the client closes the connection. */
const pourOut = (response: Http.ServerResponse) =>
  Effect.async<never>(() => {
    const pour = () => {
      while (!response.destroyed && response.write(CHUNK)) {}
    }
    response.on("drain", pour)
    pour()
  })

/** Writes a reply. The caller interrupts it when the client closes the connection. */
const writeReply = (response: Http.ServerResponse, reply: Reply): Effect.Effect<unknown> => {
  switch (reply.kind) {
    case "status": {
      const { status, text } = reply
      const headers = text === undefined ? {} : { "content-type": "text/plain", connection: "close" }
      return Effect.sync(() => response.writeHead(status, headers).end(text))
    }
    case "redirect":
      return Effect.sync(() => response.writeHead(reply.status ?? 307, { location: reply.to }).end())
    case "endless":
      return Effect.suspend(() => pourOut(response.writeHead(200)))
    case "trickle":
      response.writeHead(200)
      return Effect.repeat(
        Effect.sync(() => response.write(".")),
        Schedule.spaced("1 second")
      )
    case "silent":
      return Effect.never
    case "cut":
      return Effect.sync(() => response.destroy())
  }
}

const stopServer = (server: Http.Server) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/**
 * Serves a handler on a socket until the scope closes, and then cuts every connection. Returns its address.
 */
export const listenOnLoopback = (
  place: { readonly host: string; readonly port: number },
  handler: Handler
): Effect.Effect<string, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const usedSockets = new WeakSet<Http.IncomingMessage["socket"]>()
    const handle = Effect.fnUntraced(function* (request: Http.IncomingMessage, response: Http.ServerResponse) {
      const isKept = usedSockets.has(request.socket)
      usedSockets.add(request.socket)
      const { method = "GET", url: path = "/", headers } = request
      const { reply, delay_ms = 0 } = yield* handler({ method, path, headers, body: yield* readBody(request), isKept })
      // The delay takes real time, even if the service has another clock.
      yield* Effect.zipRight(delay_ms > 0 ? Effect.sleep(delay_ms) : Effect.void, writeReply(response, reply)).pipe(
        Effect.withClock(Clock.make())
      )
    })
    const server = Http.createServer((request, response) => {
      const fiber = fork(handle(request, response))
      // The error is ignored, because it only means that the sender closed the connection during the body.
      request.on("error", () => undefined)
      response.on("error", () => undefined)
      response.once("close", () => fork(Fiber.interruptFork(fiber)))
    })
    const { port } = yield* Effect.acquireRelease(listenOn(server, place), () => stopServer(server))
    return `${baseOf(place.host, port)}/`
  })
