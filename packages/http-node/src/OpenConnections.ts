import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Limits } from "@workshop/core"
import type { HttpResponse } from "@workshop/core/http"
import { toCountedAddress } from "@workshop/core/internal"
import type { Backlog } from "./Backlog.js"
import { closeConnection, type RequestBody } from "./nodeRequest.js"
import { type ParseError, REQUEST_TIMED_OUT, rawResponse } from "./parseErrors.js"
import { isResponseOver, SocketReader } from "./SocketReader.js"
import type { ConnectionLimits } from "./serverLimits.js"

/** The state of a connection. */
interface OpenConnection {
  /** The address or IPv6 network by which the connection is counted. */
  readonly address: string
  /** Undefined if the address is trusted, because node itself reads such a connection. */
  reader: SocketReader | undefined
  /** The number of requests so far. */
  requests: number
  /** The number of consecutive requests that arrived before the previous response was sent. */
  pipelined: number
  request: IncomingMessage | undefined
  body: RequestBody | undefined
  /** The latest response. Data that is sent without node must be sent after this response. */
  response: ServerResponse | undefined
  /** Whether the server no longer reads HTTP from the connection. */
  isAbandoned: boolean
}

/** Makes the last response of a connection, and calls `send` with it now or later. */
type FindLastResponse = (send: (response: HttpResponse) => void) => void

/** The maximum size of each of the two address sets. */
const MAX_ADDRESSES = 10_000

/** The number of requests that a trusted connection may send ahead of their responses. */
const MAX_PIPELINED = 20

const remember = (addresses: Set<string>, address: string): void => {
  for (const oldest of addresses) {
    if (addresses.size < MAX_ADDRESSES) break
    addresses.delete(oldest)
  }
  addresses.add(address)
}

/** The server's open connections: their limits, and the order of their responses even if a client violates HTTP. */
export class OpenConnections {
  /** The connections in the order in which they were opened or last sent a request. */
  readonly #open = new Map<Socket, OpenConnection>()
  readonly #perAddress = new Map<string, number>()
  /**
   * Addresses that sent a valid key. Node itself reads their connections, which takes a fifth less time than a
   * {@link SocketReader}. If an address then sends far ahead of its responses, it is disconnected and never trusted
   * again.
   */
  readonly #trusted = new Set<string>()
  readonly #distrusted = new Set<string>()
  #isStopping = false

  constructor(
    server: Server,
    readonly limits: ConnectionLimits,
    readonly backlog: Backlog
  ) {
    server.on("connection", (socket: Socket) => this.#accept(socket))
  }

  /** Records a request and its response. Returns false if the connection gets no more responses. */
  recordRequest(request: IncomingMessage, response: ServerResponse, body: RequestBody): boolean {
    const connection = this.#open.get(request.socket)
    if (connection === undefined || connection.requests >= this.limits.maxRequestsPerConnection) return false
    connection.pipelined = isResponseOver(connection.response) ? 0 : connection.pipelined + 1
    connection.request = request
    connection.body = body
    connection.response = response
    connection.requests++
    this.#open.delete(request.socket)
    this.#open.set(request.socket, connection)
    if (connection.reader !== undefined) connection.reader.recordRequest(request, response)
    else if (connection.pipelined > MAX_PIPELINED) {
      this.#distrust(request.socket, connection.address)
      return false
    }
    if (this.#isStopping || connection.requests === this.limits.maxRequestsPerConnection)
      response.shouldKeepAlive = false
    return true
  }

  /** Records that the key of a request is valid. */
  authenticated({ socket }: IncomingMessage): void {
    const address = this.#open.get(socket)?.address
    if (address === undefined || this.#trusted.has(address) || this.#distrusted.has(address)) return
    remember(this.#trusted, address)
  }

  /** Abandons a connection that node no longer reads: sends a last response after all earlier ones, and closes it. */
  abandon(socket: Socket, error: ParseError, findResponse: FindLastResponse): void {
    if (error.code !== REQUEST_TIMED_OUT) {
      this.#abandonNow(socket, error, findResponse)
      return
    }
    const request = this.#open.get(socket)?.request
    const wasComplete = request?.complete === true
    // After a process was suspended, node reports the timeout before it reads the data that arrived meanwhile. One
    // iteration of the event loop later, node has read the data.
    setImmediate(() => {
      const latestRequest = this.#open.get(socket)?.request
      const isInTime = latestRequest?.complete === true && !(wasComplete && latestRequest === request)
      if (!isInTime) this.#abandonNow(socket, error, findResponse)
    })
  }

  #abandonNow(socket: Socket, error: ParseError, findResponse: FindLastResponse): void {
    const connection = this.#open.get(socket)
    const isConnectionOver = error.code === REQUEST_TIMED_OUT || error.code === "HPE_INVALID_EOF_STATE"
    // If the client has sent no bytes, it could mistake a response for the response to a request that it is just
    // sending.
    const isUnused = error.code === REQUEST_TIMED_OUT && socket.bytesRead === 0
    if (connection === undefined || !socket.writable || isUnused || (connection.isAbandoned && isConnectionOver)) {
      socket.destroy()
    } else if (!connection.isAbandoned) {
      connection.isAbandoned = true
      connection.reader?.stop()
      dropRest(socket)
      this.#respondAndClose(socket, connection, isConnectionOver, findResponse)
    }
  }

  /** Refuses a CONNECT request, for which node hands over the socket. */
  refuseTunnel(socket: Socket, findResponse: FindLastResponse): void {
    socket.on("error", () => socket.destroy())
    const connection = this.#open.get(socket)
    connection?.reader?.stop()
    this.#afterResponse(connection?.response, () => endWith(socket, true, findResponse))
  }

  /** Ends keep-alive, so that every later response closes its connection. */
  endKeepAlive(): void {
    this.#isStopping = true
    for (const { response } of this.#open.values()) {
      if (response !== undefined && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  /** Closes connections on which no client waits for a response. */
  stop(): void {
    for (const [socket, { response, isAbandoned }] of this.#open) {
      // Closes an unused connection, which node considers busy.
      if (response === undefined && socket.bytesRead === 0) socket.destroy()
      // Closes a connection whose last response was sent, even if the client is still sending.
      if (isAbandoned && socket.writableEnded) socket.destroySoon()
    }
  }

  /** Closes all remaining connections. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  #accept(socket: Socket): void {
    const address = toCountedAddress(socket.remoteAddress ?? "unknown", this.limits.ipv6Prefix)
    if (!this.#makeRoom(address)) return void socket.destroy()
    const reader = this.#trusted.has(address) ? undefined : new SocketReader(socket, this.backlog)
    const state = {
      requests: 0,
      pipelined: 0,
      request: undefined,
      body: undefined,
      response: undefined,
      isAbandoned: false
    }
    this.#open.set(socket, { address, reader, ...state })
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1)
    socket.once("close", () => this.#forget(socket))
  }

  #forget(socket: Socket): void {
    const address = this.#open.get(socket)?.address
    if (address === undefined) return
    this.#open.delete(socket)
    const remainingCount = (this.#perAddress.get(address) ?? 0) - 1
    if (remainingCount > 0) this.#perAddress.set(address, remainingCount)
    else this.#perAddress.delete(address)
  }

  #distrust(socket: Socket, address: string): void {
    this.#trusted.delete(address)
    remember(this.#distrusted, address)
    // Requests on this connection that node has already parsed get no response.
    this.#forget(socket)
    socket.destroy()
    for (const [other, connection] of this.#open) {
      if (connection.address !== address || connection.reader !== undefined) continue
      connection.reader = new SocketReader(other, this.backlog)
      const { request, response } = connection
      if (request !== undefined && response !== undefined) connection.reader.recordRequest(request, response)
    }
  }

  /**
   * Makes room for another connection of an address, and returns false if that is impossible. A server at its limit
   * closes a connection of the address with the most connections, so that a few addresses cannot exclude all others.
   */
  #makeRoom(address: string): boolean {
    const ownCount = this.#perAddress.get(address) ?? 0
    if (ownCount >= this.limits.maxConnectionsPerAddress) {
      return this.#closeIdle((connection) => connection.address === address)
    }
    if (this.#open.size < this.limits.maxConnections) return true
    const busiestAddress = this.#busiestOther(ownCount)
    const isOfBusiest = (connection: OpenConnection) => connection.address === busiestAddress
    // Closes no connection of an address that has fewer connections than the new connection's address.
    const isAtOwnLimit = (connection: OpenConnection) => (this.#perAddress.get(connection.address) ?? 0) >= ownCount
    return this.#closeIdle(isOfBusiest) || this.#closeIdle(isAtOwnLimit) || this.#closeFirst(isOfBusiest)
  }

  /** The address with the most connections, if it has at least two more than `ownCount`. */
  #busiestOther(ownCount: number): string | undefined {
    let busiestAddress: string | undefined
    let max = ownCount + 1
    for (const [address, count] of this.#perAddress) {
      if (count <= max) continue
      busiestAddress = address
      max = count
    }
    return busiestAddress
  }

  /**
   * Closes the connection that has been idle for longest. If none is idle, closes a connection whose response has begun
   * but whose client still sends an unwanted body, or does not read the response.
   */
  #closeIdle(matches: (connection: OpenConnection) => boolean): boolean {
    return (
      this.#closeFirst((connection) => isResponseOver(connection.response) && matches(connection)) ||
      this.#closeFirst((connection) => connection.response?.headersSent === true && matches(connection))
    )
  }

  #closeFirst(matches: (connection: OpenConnection) => boolean): boolean {
    for (const [socket, connection] of this.#open) {
      if (!matches(connection)) continue
      this.#forget(socket)
      socket.destroy()
      return true
    }
    return false
  }

  #respondAndClose(
    socket: Socket,
    { request, body, response }: OpenConnection,
    isConnectionOver: boolean,
    findResponse: FindLastResponse
  ): void {
    if (request === undefined || response === undefined || request.complete) {
      this.#afterResponse(response, () => endWith(socket, isConnectionOver || this.#isStopping, findResponse))
    } else if (response.headersSent) {
      // Closes the connection, because the error is in the body of a request that already has its response.
      socket.destroy()
    } else {
      response.shouldKeepAlive = false
      if (isConnectionOver) socket.once("finish", () => socket.destroy())
      body?.abort()
    }
  }

  #afterResponse(response: ServerResponse | undefined, callback: () => void): void {
    if (response === undefined || response.writableFinished || response.destroyed) callback()
    else response.once("close", callback)
  }
}

/** Discards the data that a connection still receives. Node reads this data but no longer parses it. */
const dropRest = (socket: Socket): void => {
  const bytesBefore = socket.bytesRead
  socket.on("data", () => {
    if (socket.bytesRead - bytesBefore > Limits.unwanted_body_bytes) closeConnection(socket)
  })
}

/** Sends the last response of a connection. `isConnectionOver` is true if the client has closed its side or timed out. */
const endWith = (socket: Socket, isConnectionOver: boolean, findResponse: FindLastResponse) =>
  findResponse((response) => {
    socket.end(rawResponse(response))
    if (isConnectionOver) socket.destroySoon()
  })
