import type { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Limits } from "@workshop/core"
import type { HttpResponse, ObservedResponse, StreamBody } from "@workshop/core/http"
import { type Effect, Exit, Runtime } from "effect"
import type { Backlog } from "./Backlog.js"
import { announcedLength, awaitsBody, discardBody } from "./nodeRequest.js"
import type { UnreadResponses } from "./UnreadResponses.js"

/** The settings of a listener. */
export interface ListenerOptions {
  readonly backlog: Backlog
  readonly unread: UnreadResponses
  /**
   * Called before the response to a request with a valid key. If it is set, responses to requests without a valid key
   * wait in the backlog.
   */
  readonly onAuthenticated?: (request: IncomingMessage) => void
}

/**
 * Handles a request of `node:http` and sends the response. `awaitsContinue` is true if the client waits for
 * `100 Continue` before it sends the body.
 */
export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  handle: () => Effect.Effect<ObservedResponse>,
  awaitsContinue?: boolean
) => void

/**
 * Sends the last response of a connection whose client is still sending. Closing the connection would make the kernel
 * reset it, and the client might lose the response. Therefore it closes only the server's side, while {@link
 * discardBody} reads the remaining data.
 */
const sendAndLinger = (request: IncomingMessage, response: ServerResponse, body: HttpResponse["body"]) => {
  const { socket } = request
  const endResponse = () => {
    if (!response.destroyed) response.end()
  }
  if (request.method === "HEAD") response.flushHeaders()
  else response.write(body, () => socket.end())
  request.once("end", endResponse).once("close", endResponse)
}

/** The headers as alternating names and values, which node writes fastest. */
const rawHeaders = ({ status, headers, body }: HttpResponse): Array<string> => {
  // A 304 has no body, so it has no Content-Length.
  const raw = status === 304 ? [] : ["Content-Length", String(Buffer.byteLength(body))]
  for (const name in headers) raw.push(name, headers[name]!)
  return raw
}

/**
 * Ends a response of known length. Writes the body before the end, because then node passes head and body to the kernel
 * in one chunk, while `end(body)` passes a second, empty chunk.
 */
const endAtOnce = (response: ServerResponse, body: HttpResponse["body"]): void => {
  const { socket } = response
  if (socket === null) return void response.end(body)
  socket.cork()
  response.write(body)
  socket.uncork()
  response.end()
}

/** The number of unread bytes of a stream above which its connection is closed. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024

/** Streams a response until its client disconnects or the server stops. */
const streamResponse = (
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  follow: StreamBody
): void => {
  const { socket } = response
  response.writeHead(status, headers)
  response.write(body)
  const stop = follow((text) => {
    response.write(text)
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
  })
  const end = () => void response.end()
  const server = socket === null ? undefined : (socket as Socket & { readonly server?: EventEmitter }).server
  server?.once(SHUTDOWN, end)
  response.once("close", () => {
    server?.off(SHUTDOWN, end)
    stop()
  })
}

/** The event that a stopping server emits to end its streams. */
export const SHUTDOWN = "shutdown"

/** Sends a response of the pipeline on node's `response`, unless a response was sent already. */
export const sendResponse = (
  request: IncomingMessage,
  response: ServerResponse,
  httpResponse: HttpResponse,
  unread: UnreadResponses
): void => {
  if (response.headersSent || response.destroyed) return
  if (httpResponse.closesConnection === true) return void response.destroy()
  if (httpResponse.follow !== undefined && request.method !== "HEAD") {
    streamResponse(response, httpResponse, httpResponse.follow)
    return
  }
  const { status, body } = httpResponse
  const isSending = awaitsBody(request)
  if (isSending && !(announcedLength(request) <= Limits.unwanted_body_bytes)) response.shouldKeepAlive = false
  response.writeHead(status, rawHeaders(httpResponse))
  if (isSending) discardBody(request)
  if (!response.shouldKeepAlive && isSending) sendAndLinger(request, response, body)
  else if (request.method === "HEAD" || status === 304) response.end()
  else endAtOnce(response, body)
  if (request.socket.writableLength > 0) unread.watch(response, request.socket, Buffer.byteLength(body))
}

/**
 * Runs a request once all earlier requests on its connection have their responses. Pipelined requests wait in the
 * backlog.
 */
const runInOrder = (response: ServerResponse, backlog: Backlog, run: () => void): void => {
  if (response.socket !== null) {
    run()
    return
  }
  response.once("socket", () =>
    backlog.add(() => {
      if (response.socket?.writable) run()
    })
  )
}

/** Runs each request in a fiber, and interrupts the fiber if the client disconnects. */
export const listener = (
  runtime: Runtime.Runtime<never>,
  { backlog, unread, onAuthenticated }: ListenerOptions
): Listener => {
  const fork = Runtime.runFork(runtime)
  return (request, response, handle, awaitsContinue = false) => {
    const sendExit = (exit: Exit.Exit<ObservedResponse>) => {
      if (Exit.isFailure(exit)) return void response.destroy()
      const { status, context } = exit.value
      const isAuthenticated = context.caller !== null
      if (isAuthenticated) onAuthenticated?.(request)
      // In each iteration of the event loop, the backlog sends a few responses to requests without a valid key. Their
      // clients send the next request only after the response, so even many such requests do not delay new connections
      // and clients with a key. A 503 is sent at once, because the service is overloaded already.
      const isDeferred = onAuthenticated !== undefined && !isAuthenticated && status !== 503
      const send = () => sendResponse(request, response, exit.value, unread)
      if (isDeferred) backlog.add(send)
      else send()
    }
    const run = () => {
      const fiber = fork(handle())
      const exitNow = fiber.unsafePoll()
      if (exitNow !== null) return sendExit(exitNow)
      fiber.addObserver(sendExit)
      response.once("close", () => {
        if (!response.writableFinished) fiber.unsafeInterruptAsFork(fiber.id())
      })
    }
    const beginRun = () => runInOrder(response, backlog, run)
    // A short body arrives in one packet with the head. Node has parsed only the head by now and parses the body one
    // tick later, so the fiber begins after that tick and need not wait for the body.
    if (!awaitsContinue && awaitsBody(request)) process.nextTick(beginRun)
    else beginRun()
  }
}
