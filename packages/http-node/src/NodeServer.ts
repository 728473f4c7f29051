import type { IncomingMessage, ServerResponse } from "node:http"
import * as Http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { type Entropy, Limits } from "@workshop/core"
import type { HttpRequest, HttpResponse, Pipeline } from "@workshop/core/http"
import { IPV6_PREFIX, isHeaderRepeated, toCountedAddress } from "@workshop/core/internal"
import { newContext } from "@workshop/core/internal/http"
import { Effect, Exit, Runtime, type Scope } from "effect"
import { Backlog } from "./Backlog.js"
import { closeServer } from "./draining.js"
import { type ListenerOptions, listener, SHUTDOWN, sendResponse } from "./Listener.js"
import { type CannotListen, listen } from "./listen.js"
import { RequestBody, requestFromNode } from "./nodeRequest.js"
import { OpenConnections } from "./OpenConnections.js"
import { notHttpResponse, type ParseError, SEVERAL_HOSTS, unknownMethod } from "./parseErrors.js"
import { CONNECTION_LIMITS, type ConnectionLimits, SERVER_TIMEOUTS, type ServerTimeouts } from "./serverLimits.js"
import { UnreadResponses } from "./UnreadResponses.js"

/** The settings of a server. */
export interface NodeServerOptions {
  /** The name or address of the interface to listen on, such as `127.0.0.1`, or `0.0.0.0` for all. */
  readonly host: string
  /** The port to listen on; 0 for any free port. */
  readonly port: number
  /**
   * Whether the last address in `X-Forwarded-For` is the client's. Set it to true only behind a proxy that sets this
   * header.
   */
  readonly trustProxy: boolean
  /** The timeouts; {@link SERVER_TIMEOUTS} by default. */
  readonly timeouts?: ServerTimeouts
  /**
   * The limits; {@link CONNECTION_LIMITS} by default, except that one address may have all connections with
   * `trustProxy`.
   */
  readonly limits?: Partial<ConnectionLimits>
}

const make = (timeouts: ServerTimeouts) => {
  const server = Http.createServer({
    maxHeaderSize: Limits.request_head_bytes,
    headersTimeout: timeouts.headMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // The pipeline checks the Host header, because node's own response would have no envelope.
    requireHostHeader: false
  })
  // No maximum, because node silently drops further headers, possibly the key. The maximum size of the head limits
  // their number.
  server.maxHeadersCount = 0
  return server
}

const limitsOf = ({ trustProxy, limits = {} }: NodeServerOptions): ConnectionLimits => {
  const { maxConnections = CONNECTION_LIMITS.maxConnections } = limits
  return { ...CONNECTION_LIMITS, ...(trustProxy && { maxConnectionsPerAddress: maxConnections }), ...limits }
}

/** Makes the pipeline count requests without a valid key by IPv6 networks of the given size. */
const limitByNetwork = (pipeline: Pipeline, ipv6Prefix: number): Pipeline =>
  ipv6Prefix === IPV6_PREFIX
    ? pipeline
    : (request) => pipeline({ ...request, address: toCountedAddress(request.address, ipv6Prefix) })

/** The characters of a host and its port (RFC 9112 §3.2, RFC 3986 §3.2.2). */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** The error in a request's Host header: HTTP/1.1 requires one, and no version allows several. */
const hostError = ({ headers, httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined => {
  if (headers.host === undefined) return httpVersionMinor > 0 ? "NO_HOST" : undefined
  if (!HOST.test(headers.host)) return "BAD_HOST"
  return isHeaderRepeated(rawHeaders, "host") ? SEVERAL_HOSTS : undefined
}

/** Listens to all of node's events for requests, including expectations, upgrades, tunnels and invalid input. */
const listenForRequests = (
  server: Http.Server,
  connections: OpenConnections,
  pipeline: Pipeline,
  runtime: Runtime.Runtime<Entropy>,
  trustProxy: boolean,
  options: ListenerOptions
) => {
  const { unread } = options
  const runAndRespond = listener(runtime, options)
  const fork = Runtime.runFork(runtime)
  const parseErrorResponse = (code: string | undefined) => notHttpResponse(code, Runtime.runSync(runtime)(newContext))
  /**
   * Responds on a connection that node no longer handles. Without a response, closes it, because the client would wait
   * forever.
   */
  const respondOnSocket = (request: HttpRequest, socket: Socket, send: (response: HttpResponse) => void) =>
    fork(pipeline(request)).addObserver((exit) => (Exit.isSuccess(exit) ? send(exit.value) : socket.destroy()))

  const onRequest = (request: IncomingMessage, response: ServerResponse, writeContinue?: () => void) => {
    const body = new RequestBody(request, writeContinue)
    if (!connections.recordRequest(request, response, body)) return
    const error = hostError(request)
    if (error === undefined) {
      const handle = () => pipeline(requestFromNode(request, trustProxy, body))
      return runAndRespond(request, response, handle, writeContinue !== undefined)
    }
    response.shouldKeepAlive = false
    return sendResponse(request, response, parseErrorResponse(error), unread)
  }

  server.on("request", (request, response) => onRequest(request, response))
  server.on("checkContinue", (request, response) => {
    // A client that is refused before `100 Continue` may or may not send its body, so the connection cannot be used for
    // another request.
    response.shouldKeepAlive = false
    onRequest(request, response, () => response.writeContinue())
  })
  // Ignores any other expectation, which RFC 9110 §10.1.1 allows.
  server.on("checkExpectation", (request, response) => onRequest(request, response))
  server.on("connect", (request, socket) =>
    connections.refuseTunnel(socket as Socket, (send) =>
      respondOnSocket(requestFromNode(request, trustProxy), socket as Socket, send)
    )
  )
  server.on("clientError", (error: ParseError, socket) =>
    connections.abandon(socket as Socket, error, (send) => {
      const { remoteAddress } = socket as Socket
      const request = error.code === "HPE_INVALID_METHOD" ? unknownMethod(error, remoteAddress, trustProxy) : undefined
      if (request === undefined) send(parseErrorResponse(error.code))
      else respondOnSocket(request, socket as Socket, send)
    })
  )
}

/**
 * Stops accepting connections, serves requests that clients are sending, waits for running requests, and closes the
 * remaining connections.
 */
const stop = (server: Http.Server, connections: OpenConnections, { drainArrivalMs, stoppingMs }: ServerTimeouts) =>
  Effect.suspend(() => {
    server.emit(SHUTDOWN)
    connections.endKeepAlive()
    return closeServer(server, {
      drainArrivalMs,
      timeoutMs: stoppingMs,
      afterArrivals: Effect.sync(() => {
        connections.stop()
        server.close()
      }),
      onTimeout: () => connections.destroy()
    })
  })

/** Serves the pipeline until the scope closes, and returns the address of the server. */
export const serve = (
  pipeline: Pipeline,
  options: NodeServerOptions
): Effect.Effect<AddressInfo, CannotListen, Scope.Scope | Entropy> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<Entropy>()
    const { trustProxy, timeouts = SERVER_TIMEOUTS } = options
    const limits = limitsOf(options)
    const server = make(timeouts)
    const backlog = new Backlog()
    const connections = new OpenConnections(server, limits, backlog)
    const unread = new UnreadResponses(runtime, timeouts, limits.maxUnreadBytes)
    listenForRequests(server, connections, limitByNetwork(pipeline, limits.ipv6Prefix), runtime, trustProxy, {
      backlog,
      unread,
      onAuthenticated: (request) => connections.authenticated(request)
    })
    const address = yield* Effect.acquireRelease(listen(server, options), () => stop(server, connections, timeouts))
    // Logs, for example, that no file descriptor is left for a new connection. Open connections are not affected.
    server.on("error", (cause) => Runtime.runFork(runtime)(Effect.logWarning("A connection was not accepted", cause)))
    return address
  })
