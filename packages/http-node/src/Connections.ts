import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Limits } from "@workshop/core/domain/Limits"
import type { Departure } from "@workshop/core/http/Arrival"
import { breakOff } from "./NodeArrival.js"
import { lastWords, type ParseError, TOO_LATE } from "./Unparsable.js"
import { cutOff } from "./UnwantedBody.js"

/** Where a connection stands. */
interface Connection {
  request: IncomingMessage | undefined
  /** The latest answer: whatever is said outside of node's own order comes after it. */
  response: ServerResponse | undefined
  /** Nothing more is read from it as HTTP. */
  isLeaving: boolean
}

/** How an answer that the pipeline is to give to a broken request is found: given at once or later. */
type Answer = (give: (departure: Departure) => void) => void

/** The server's open connections: so that each answer finds its place, also when the client does not keep to HTTP. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #isStopping = false

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#open.set(socket, { request: undefined, response: undefined, isLeaving: false })
      socket.once("close", () => this.#open.delete(socket))
    })
  }

  /** A request came, and this will answer it. */
  note(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    connection.request = request
    connection.response = response
    if (this.#isStopping) response.shouldKeepAlive = false
  }

  /** Node gave the connection up: answers what came last and lets the connection go, after all answers before. */
  leave(socket: Socket, error: ParseError, answer: Answer): void {
    const connection = this.#open.get(socket)
    const isOver = error.code === TOO_LATE || error.code === "HPE_INVALID_EOF_STATE"
    if (connection === undefined || !socket.writable || (connection.isLeaving && isOver)) {
      socket.destroy()
    } else if (!connection.isLeaving) {
      connection.isLeaving = true
      dropRest(socket)
      this.#leave(socket, connection, isOver, answer)
    }
  }

  /** The client asked for a tunnel, and node hands over the bare connection. */
  refuseTunnel(socket: Socket, answer: Answer): void {
    socket.on("error", () => socket.destroy())
    this.#after(this.#open.get(socket)?.response, () => depart(socket, true, answer))
  }

  /** Makes each answer the last one of its connection, from now on. */
  part(): void {
    this.#isStopping = true
    for (const { response } of this.#open.values()) {
      if (response !== undefined && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  /** Ends what nobody waits for. */
  stop(): void {
    for (const [socket, { response, isLeaving }] of this.#open) {
      // Opened in advance and silent: node takes it for busy.
      if (response === undefined && socket.bytesRead === 0) socket.destroy()
      // Everything was said, and the client still sends.
      if (isLeaving && socket.writableEnded) socket.destroySoon()
    }
  }

  /** Cuts off whoever is still there. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  #leave(socket: Socket, { request, response }: Connection, isOver: boolean, answer: Answer): void {
    if (request === undefined || response === undefined || request.complete) {
      this.#after(response, () => depart(socket, isOver || this.#isStopping, answer))
    } else if (response.headersSent) {
      // The error is in the body of a request that was answered already.
      socket.destroy()
    } else {
      response.shouldKeepAlive = false
      if (isOver) socket.once("finish", () => socket.destroy())
      breakOff(request)
    }
  }

  #after(response: ServerResponse | undefined, act: () => void): void {
    if (response === undefined || response.writableFinished || response.destroyed) act()
    else response.once("close", act)
  }
}

/** Node parses nothing more of a connection, but goes on to read it. */
const dropRest = (socket: Socket): void => {
  const before = socket.bytesRead
  socket.on("data", () => {
    if (socket.bytesRead - before > Limits.unwanted_body_bytes) cutOff(socket)
  })
}

/** Says the last answer. `isOver`: the client has nothing more to send, or had its time for it. */
const depart = (socket: Socket, isOver: boolean, answer: Answer) =>
  answer((departure) => {
    socket.end(lastWords(departure))
    if (isOver) socket.destroySoon()
  })
