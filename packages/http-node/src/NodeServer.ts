import type { IncomingMessage, ServerResponse } from "node:http"
import * as Http from "node:http"
import { type AddressInfo, Server as NetServer, type Socket } from "node:net"
import { countedAddress, type Entropy, IPV6_PREFIX } from "@workshop/core"
import { type HttpRequest, type HttpResponse, isHeaderRepeated, newContext, type Pipeline } from "@workshop/core/http"
import { Clock, Effect, Exit, Fiber, Runtime, type Scope } from "effect"
import { CONNECTION_LIMITS, type ConnectionLimits } from "./ConnectionLimits.js"
import { type ListenerOptions, listener, send } from "./Listener.js"
import { type CannotListen, listen } from "./listen.js"
import { httpRequestOf, RequestBody } from "./nodeRequest.js"
import { OpenConnections } from "./OpenConnections.js"
import { PipelinedWork } from "./PipelinedWork.js"
import { HEAD_BYTES, notHttpResponse, type ParseError, SEVERAL_HOSTS, unknownMethod } from "./parseErrors.js"
import { SERVER_TIMEOUTS, type ServerTimeouts } from "./ServerTimeouts.js"
import { UnreadResponses } from "./UnreadResponses.js"

/** Where to listen, and how the address of a client is known. */
export interface NodeServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Believe the last address of `X-Forwarded-For`: only behind a proxy that sets it. */
  readonly trustProxy: boolean
  /** Where it is left out, {@link SERVER_TIMEOUTS}. */
  readonly timeouts?: ServerTimeouts
  /** Where one is left out, that of `CONNECTION_LIMITS`; with `trustProxy` an address may have all connections. */
  readonly limits?: Partial<ConnectionLimits>
}

const make = (timeouts: ServerTimeouts) => {
  const server = Http.createServer({
    maxHeaderSize: HEAD_BYTES,
    headersTimeout: timeouts.head_ms,
    requestTimeout: timeouts.request_ms,
    keepAliveTimeout: timeouts.idle_ms,
    connectionsCheckingInterval: timeouts.check_ms,
    // Node would answer on its own, without an envelope.
    requireHostHeader: false
  })
  // Node would drop what goes beyond its count without a word, and with it perhaps the key; the head's size bounds it.
  server.maxHeadersCount = 0
  return server
}

const limitsOf = ({ trustProxy, limits = {} }: NodeServerOptions): ConnectionLimits => {
  const { maxConnections = CONNECTION_LIMITS.maxConnections } = limits
  return { ...CONNECTION_LIMITS, ...(trustProxy && { maxConnectionsPerAddress: maxConnections }), ...limits }
}

/** Counts requests without a good key by networks of another size than the usual one. */
const byNetwork = (pipeline: Pipeline, ipv6Prefix: number): Pipeline =>
  ipv6Prefix === IPV6_PREFIX
    ? pipeline
    : (request) => pipeline({ ...request, address: countedAddress(request.address, ipv6Prefix) })

/** What a host and its port can be written with (RFC 9112 §3.2, RFC 3986 §3.2.2). */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** What is wrong with the host that a request names: HTTP/1.1 demands one, and no version allows several. */
const hostError = ({ headers, httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined => {
  if (headers.host === undefined) return httpVersionMinor > 0 ? "NO_HOST" : undefined
  if (!HOST.test(headers.host)) return "BAD_HOST"
  return isHeaderRepeated(rawHeaders, "host") ? SEVERAL_HOSTS : undefined
}

/** Every way in which node hands out a request, or the remains of one. */
const handle = (
  server: Http.Server,
  connections: OpenConnections,
  pipeline: Pipeline,
  runtime: Runtime.Runtime<Entropy>,
  options: ListenerOptions
) => {
  const { trustProxy, unread } = options
  const answer = listener(pipeline, runtime, options)
  const fork = Runtime.runFork(runtime)
  const notHttp = (code: string | undefined) => notHttpResponse(code, Runtime.runSync(runtime)(newContext))
  /** A connection that node no longer minds would wait for ever where nothing is answered. */
  const answerTo = (request: HttpRequest, socket: Socket, take: (response: HttpResponse) => void) =>
    fork(pipeline(request)).addObserver((exit) => (Exit.isSuccess(exit) ? take(exit.value) : socket.destroy()))

  const onRequest = (request: IncomingMessage, response: ServerResponse, onAsked?: () => void) => {
    const body = new RequestBody(request, onAsked)
    if (!connections.note(request, response, body)) return
    const error = hostError(request)
    if (error === undefined) return answer(request, response, body, onAsked !== undefined)
    response.shouldKeepAlive = false
    return send(request, response, notHttp(error), unread)
  }

  server.on("request", (request, response) => onRequest(request, response))
  server.on("checkContinue", (request, response) => {
    // Refused before its body was asked for, such a request may or may not send it: nothing can follow it.
    response.shouldKeepAlive = false
    onRequest(request, response, () => response.writeContinue())
  })
  // Any other expectation may be passed over (RFC 9110 §10.1.1).
  server.on("checkExpectation", (request, response) => onRequest(request, response))
  server.on("connect", (request, socket) =>
    connections.refuseTunnel(socket as Socket, (take) =>
      answerTo(httpRequestOf(request, trustProxy), socket as Socket, take)
    )
  )
  server.on("clientError", (error: ParseError, socket) =>
    connections.leave(socket as Socket, error, (take) => {
      const { remoteAddress } = socket as Socket
      const request = error.code === "HPE_INVALID_METHOD" ? unknownMethod(error, remoteAddress, trustProxy) : undefined
      if (request === undefined) take(notHttp(error.code))
      else answerTo(request, socket as Socket, take)
    })
  )
}

/** A turn of the event loop, in which node takes what the kernel has accepted already. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Stops listening alone: `Http.Server.close` would cut off kept-alive connections with a request on its way. */
const stopListening = (server: Http.Server) =>
  Effect.async<void>((resume) => {
    NetServer.prototype.close.call(server, () => resume(Effect.void))
  })

/** Stops accepting, answers what is on its way, lets what runs finish, and cuts off what does not. */
const stop = (server: Http.Server, connections: OpenConnections, { parting_ms, stopping_ms }: ServerTimeouts) =>
  Effect.gen(function* () {
    connections.part()
    yield* Effect.zipRight(turn, turn)
    const closed = yield* Effect.fork(stopListening(server))
    yield* Effect.raceFirst(Fiber.join(closed), Effect.sleep(parting_ms))
    connections.stop()
    server.close()
    yield* Fiber.join(closed)
  }).pipe(
    // A finalizer cannot be interrupted, and so not timed out, unless it says so.
    Effect.interruptible,
    Effect.timeoutTo({
      duration: stopping_ms,
      onSuccess: () => undefined,
      onTimeout: () => connections.destroy()
    }),
    // Patience is real time, whatever clock the service goes by.
    Effect.withClock(Clock.make())
  )

/** Serves the pipeline until the scope closes. Answers the address at which it listens. */
export const serve = (
  pipeline: Pipeline,
  options: NodeServerOptions
): Effect.Effect<AddressInfo, CannotListen, Scope.Scope | Entropy> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<Entropy>()
    const { trustProxy, timeouts = SERVER_TIMEOUTS } = options
    const limits = limitsOf(options)
    const server = make(timeouts)
    const backlog = new PipelinedWork()
    const connections = new OpenConnections(server, limits, backlog)
    const unread = new UnreadResponses(runtime, timeouts, limits.maxUnreadBytes)
    handle(server, connections, byNetwork(pipeline, limits.ipv6Prefix), runtime, {
      trustProxy,
      backlog,
      unread,
      onAdmitted: (request) => connections.admitted(request)
    })
    const address = yield* Effect.acquireRelease(listen(server, options), () => stop(server, connections, timeouts))
    // Such as no file descriptor left for a new connection: the others live on.
    server.on("error", (cause) => Runtime.runFork(runtime)(Effect.logWarning("A connection was not accepted", cause)))
    return address
  })
