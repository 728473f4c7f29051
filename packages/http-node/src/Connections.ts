import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { countedAddress } from "@workshop/core/domain/CountedAddress"
import { Limits } from "@workshop/core/domain/Limits"
import type { Departure } from "@workshop/core/http/Arrival"
import type { Backlog } from "./Backlog.js"
import type { ConnectionLimits } from "./ConnectionLimits.js"
import { Intake } from "./Intake.js"
import { breakOff } from "./NodeArrival.js"
import { lastWords, type ParseError, TOO_LATE } from "./Unparsable.js"
import { cutOff } from "./UnwantedBody.js"

/** Where a connection stands. */
interface Connection {
  /** By which it is counted. */
  readonly address: string
  readonly intake: Intake
  /** Requests that came. */
  requests: number
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
  readonly #perAddress = new Map<string, number>()
  #isStopping = false

  constructor(
    server: Server,
    readonly limits: ConnectionLimits,
    readonly backlog: Backlog
  ) {
    server.on("connection", (socket: Socket) => this.#accept(socket))
  }

  /** A request came, and this is to answer it: false where no more are answered on its connection. */
  note(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(request.socket)
    if (connection === undefined || connection.requests >= this.limits.maxRequestsPerConnection) return false
    connection.request = request
    connection.response = response
    connection.requests++
    connection.intake.asked(request, response)
    if (this.#isStopping || connection.requests === this.limits.maxRequestsPerConnection)
      response.shouldKeepAlive = false
    return true
  }

  /** Node gave the connection up: answers what came last and lets the connection go, after all answers before. */
  leave(socket: Socket, error: ParseError, answer: Answer): void {
    const connection = this.#open.get(socket)
    const isOver = error.code === TOO_LATE || error.code === "HPE_INVALID_EOF_STATE"
    if (connection === undefined || !socket.writable || (connection.isLeaving && isOver)) {
      socket.destroy()
    } else if (!connection.isLeaving) {
      connection.isLeaving = true
      connection.intake.stop()
      dropRest(socket)
      this.#leave(socket, connection, isOver, answer)
    }
  }

  /** The client asked for a tunnel, and node hands over the bare connection. */
  refuseTunnel(socket: Socket, answer: Answer): void {
    socket.on("error", () => socket.destroy())
    const connection = this.#open.get(socket)
    connection?.intake.stop()
    this.#after(connection?.response, () => depart(socket, true, answer))
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

  #accept(socket: Socket): void {
    const address = countedAddress(socket.remoteAddress ?? "unknown", this.limits.ipv6Prefix)
    if (!this.#makeRoom(address)) return void socket.destroy()
    const intake = new Intake(socket, this.backlog)
    const state = { requests: 0, request: undefined, response: undefined, isLeaving: false }
    this.#open.set(socket, { address, intake, ...state })
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1)
    socket.once("close", () => this.#forget(socket))
  }

  #forget(socket: Socket): void {
    const address = this.#open.get(socket)?.address
    if (address === undefined) return
    this.#open.delete(socket)
    const left = (this.#perAddress.get(address) ?? 0) - 1
    if (left > 0) this.#perAddress.set(address, left)
    else this.#perAddress.delete(address)
  }

  #makeRoom(address: string): boolean {
    if ((this.#perAddress.get(address) ?? 0) >= this.limits.maxConnectionsPerAddress) {
      return this.#closeIdle((connection) => connection.address === address)
    }
    return this.#open.size < this.limits.maxConnections || this.#closeIdle(() => true)
  }

  /** Closes the oldest connection on which no request runs: rather one that never brought any. */
  #closeIdle(isMeant: (connection: Connection) => boolean): boolean {
    let idle: Socket | undefined
    for (const [socket, connection] of this.#open) {
      if (!connection.intake.isIdle || !isMeant(connection)) continue
      if (connection.requests === 0) {
        idle = socket
        break
      }
      idle ??= socket
    }
    if (idle === undefined) return false
    this.#forget(idle)
    idle.destroy()
    return true
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
