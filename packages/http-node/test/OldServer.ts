import type { IncomingMessage, ServerResponse } from "node:http"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { type Arrival, BodyBroken, BodyTooLarge, type Departure } from "@workshop/core/http/Arrival"
import type { Pipeline } from "@workshop/core/http/Pipeline"
import { Data, Effect, Exit, Runtime, type Scope } from "effect"

/** Where to listen, and whose word to take for where a request came from. */
export interface NodeServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Believe the last address of `X-Forwarded-For`: only behind a proxy that sets it. */
  readonly trustProxy: boolean
}

/** The address cannot be listened on. */
export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

/** How long a client may take to send its head and its whole request: a slow one must not hold a socket. */
const HEAD_MS = 10_000
const REQUEST_MS = 30_000
/** How long what runs may take to finish once the server stops accepting. */
const GRACE_MS = 8_000

const NOT_HTTP = JSON.stringify({
  success: false,
  error: {
    code: "VALIDATION_ERROR",
    message: "The request is not valid HTTP/1.1; details.issues lists what to change",
    details: {
      issues: [
        { in: "header", field: "header", message: "must be valid HTTP/1.1 of at most 16 KiB, sent in good time" }
      ]
    }
  }
})

const body =
  (request: IncomingMessage) =>
  (most: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyBroken> =>
    Effect.async((resume) => {
      if (Number(request.headers["content-length"] ?? 0) > most) return resume(Effect.fail(new BodyTooLarge()))
      let chunks: Array<Buffer> = []
      let size = 0
      const stop = () => request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken)
      const onData = (chunk: Buffer) => {
        size += chunk.length
        if (size <= most) return chunks.push(chunk)
        stop()
        chunks = []
        request.resume()
        return resume(Effect.fail(new BodyTooLarge()))
      }
      const onEnd = () => {
        stop()
        resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      }
      const onBroken = () => {
        stop()
        resume(Effect.fail(new BodyBroken()))
      }
      request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken)
    })

const addressOf = (request: IncomingMessage, { trustProxy }: NodeServerOptions): string => {
  const forwarded = trustProxy ? request.headers["x-forwarded-for"] : undefined
  const last = (Array.isArray(forwarded) ? forwarded.at(-1) : forwarded)?.split(",").at(-1)?.trim()
  return last !== undefined && last !== "" ? last : (request.socket.remoteAddress ?? "unknown")
}

const arrivalOf = (request: IncomingMessage, options: NodeServerOptions): Arrival => {
  const url = request.url ?? "/"
  const question = url.indexOf("?")
  return {
    method: request.method ?? "GET",
    path: question < 0 ? url : url.slice(0, question),
    query: question < 0 ? "" : url.slice(question + 1),
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(", ") : value
    },
    address: addressOf(request, options),
    body: body(request)
  }
}

const send = (request: IncomingMessage, response: ServerResponse, departure: Departure) => {
  if (response.headersSent || response.destroyed) return
  response.writeHead(departure.status, { ...departure.headers, "Content-Length": Buffer.byteLength(departure.body) })
  response.end(request.method === "HEAD" ? undefined : departure.body)
}

/** A listener for `node:http` and all frameworks that take one: runs each request on the pipeline, one fiber each. */
export const listener = (
  pipeline: Pipeline,
  runtime: Runtime.Runtime<never>,
  options: NodeServerOptions
): Http.RequestListener => {
  const fork = Runtime.runFork(runtime)
  return (request, response) => {
    const fiber = fork(pipeline(arrivalOf(request, options)))
    const settle = (exit: Exit.Exit<Departure>) => {
      if (Exit.isSuccess(exit)) send(request, response, exit.value)
      else response.destroy()
    }
    const settled = fiber.unsafePoll()
    if (settled !== null) return settle(settled)
    fiber.addObserver(settle)
    response.once("close", () => {
      if (!response.writableFinished) fiber.unsafeInterruptAsFork(fiber.id())
    })
  }
}

const listen = (server: Http.Server, { host, port }: NodeServerOptions) =>
  Effect.async<AddressInfo, CannotListen>((resume) => {
    const onError = (cause: Error) => resume(Effect.fail(new CannotListen({ host, port, cause })))
    server.once("error", onError)
    server.listen(port, host, () => {
      server.off("error", onError)
      resume(Effect.succeed(server.address() as AddressInfo))
    })
  })

/** Stops accepting, lets what runs finish, and cuts off what does not. */
const stop = (server: Http.Server) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
  }).pipe(
    Effect.timeoutTo({ duration: GRACE_MS, onSuccess: () => undefined, onTimeout: () => server.closeAllConnections() }),
    Effect.asVoid
  )

/** Serves the pipeline until the scope closes. Answers the address at which it listens. */
export const serve = (
  pipeline: Pipeline,
  options: NodeServerOptions
): Effect.Effect<AddressInfo, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const server = Http.createServer(
      { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS },
      listener(pipeline, runtime, options)
    )
    server.on("clientError", (_, socket) => {
      if (!socket.writable) return socket.destroy()
      const head = ["HTTP/1.1 400 Bad Request", "Content-Type: application/json; charset=utf-8", "Connection: close"]
      return socket.end([...head, `Content-Length: ${NOT_HTTP.length}`, "", NOT_HTTP].join("\r\n"))
    })
    return yield* Effect.acquireRelease(listen(server, options), () => stop(server))
  })
