import type { IncomingMessage, ServerResponse } from "node:http"
import { Limits } from "@workshop/core"
import type { HttpResponse, Pipeline } from "@workshop/core/http"
import { Exit, Runtime } from "effect"
import { discardBody } from "./discardBody.js"
import { announcedLength, awaitsBody, httpRequestOf, type RequestBody } from "./nodeRequest.js"
import type { PipelinedWork } from "./PipelinedWork.js"
import type { UnreadResponses } from "./UnreadResponses.js"

/** What a listener needs to know. */
export interface ListenerOptions {
  /** Believe the last address of `X-Forwarded-For`: only behind a proxy that sets it. */
  readonly trustProxy: boolean
  readonly backlog: PipelinedWork
  readonly unread: UnreadResponses
  /** Called once a request's key was found good. Where it is given, all other responses take their turn in the backlog. */
  readonly onAdmitted?: (request: IncomingMessage) => void
}

/** A listener for `node:http`. A client that was told to wait before it sends the body gets the word when the body is asked for. */
export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  body?: RequestBody,
  isBodyHeld?: boolean
) => void

/**
 * The last answer on a connection while the client still sends: closed now, the kernel would reset the connection,
 * and the client might lose the answer. So say that nothing follows, while {@link discardBody} takes what comes.
 */
const linger = (request: IncomingMessage, response: ServerResponse, body: HttpResponse["body"]) => {
  const { socket } = request
  const end = () => {
    if (!response.destroyed) response.end()
  }
  if (request.method === "HEAD") response.flushHeaders()
  else response.write(body, () => socket.end())
  request.once("end", end).once("close", end)
}

/** Names and values in turn: what node writes fastest. */
const rawHeaders = ({ status, headers, body }: HttpResponse): Array<string> => {
  // A 304 speaks of a body that it does not have.
  const raw = status === 304 ? [] : ["Content-Length", String(Buffer.byteLength(body))]
  for (const name of Object.keys(headers)) raw.push(name, headers[name]!)
  return raw
}

/**
 * Ends an answer whose length was told. `end(body)` makes node hand the kernel a list of two pieces, the second of them
 * empty; written first, head and body go as the one text that they are.
 */
const endAtOnce = (response: ServerResponse, body: HttpResponse["body"]): void => {
  const { socket } = response
  if (socket === null) return void response.end(body)
  socket.cork()
  response.write(body)
  socket.uncork()
  response.end()
}

/** Sends an answer. */
export const send = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  unread: UnreadResponses
): void => {
  if (response.headersSent || response.destroyed) return
  const isSending = awaitsBody(request)
  if (isSending && !(announcedLength(request) <= Limits.unwanted_body_bytes)) response.shouldKeepAlive = false
  response.writeHead(status, rawHeaders({ status, headers, body }))
  if (isSending) discardBody(request)
  if (!response.shouldKeepAlive && isSending) linger(request, response, body)
  else if (request.method === "HEAD" || status === 304) response.end()
  else endAtOnce(response, body)
  if (request.socket.writableLength > 0) unread.watch(response, request.socket, Buffer.byteLength(body))
}

/**
 * Runs a request once its answer is the next one on its connection: one at a time, however many a client sends. Those
 * that were sent early wait for those of clients that did not.
 */
const inTurn = (response: ServerResponse, backlog: PipelinedWork, run: () => void): void => {
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

/** Runs each request on the pipeline, one fiber each; a client that leaves interrupts it. */
export const listener = (
  pipeline: Pipeline,
  runtime: Runtime.Runtime<never>,
  { trustProxy, backlog, unread, onAdmitted }: ListenerOptions
): Listener => {
  const fork = Runtime.runFork(runtime)
  return (request, response, body, isBodyHeld = false) => {
    let isInTurn = onAdmitted !== undefined
    const admitted = () => {
      isInTurn = false
      onAdmitted?.(request)
    }
    const settle = (exit: Exit.Exit<HttpResponse>) => {
      // Strangers get a few answers in each turn of the event loop and send nothing more until then, so that any number of
      // them leave room for new connections and for clients with a key.
      if (Exit.isSuccess(exit) && isInTurn) backlog.add(() => send(request, response, exit.value, unread))
      else if (Exit.isSuccess(exit)) send(request, response, exit.value, unread)
      else response.destroy()
    }
    const run = () => {
      const fiber = fork(pipeline(httpRequestOf(request, trustProxy, body, admitted)))
      const settled = fiber.unsafePoll()
      if (settled !== null) return settle(settled)
      fiber.addObserver(settle)
      response.once("close", () => {
        if (!response.writableFinished) fiber.unsafeInterruptAsFork(fiber.id())
      })
    }
    const begin = () => inTurn(response, backlog, run)
    // A short body comes in one packet with its head, of which node has read the head alone. A tick later the body is
    // here as well, and the fiber need not stop to wait for it.
    if (!isBodyHeld && awaitsBody(request)) process.nextTick(begin)
    else begin()
  }
}
