import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Limits } from "@workshop/core"
import { countedAddress } from "@workshop/core/adapter"
import type { HttpResponse } from "@workshop/core/http"
import type { Backlog } from "./Listener.js"
import { announcedLength, closeConnection, type RequestBody } from "./nodeRequest.js"
import { type ParseError, rawResponse, TOO_LATE } from "./parseErrors.js"
import type { ConnectionLimits } from "./serverLimits.js"

/** The state of a connection. */
interface Connection {
  /** The address by which it is counted. */
  readonly address: string
  /** Undefined if the address is trusted to wait for its responses: node reads such a connection itself. */
  reader: SocketReader | undefined
  /** All requests so far. */
  requests: number
  /** How many of the latest requests each arrived before the response to the one before. */
  pipelined: number
  request: IncomingMessage | undefined
  body: RequestBody | undefined
  /** The latest response. Anything sent outside of node's own order comes after it. */
  response: ServerResponse | undefined
  /** Whether the server no longer reads HTTP from it. */
  isAbandoned: boolean
}

/** Finds the response to a broken request, and calls `give` with it at once or later. */
type LastResponse = (give: (response: HttpResponse) => void) => void

/** How many trusted addresses are remembered, and how many that are not trusted again. */
const MOST_ADDRESSES = 10_000

/** How many requests a trusted connection may send ahead of their responses. */
const MOST_PIPELINED = 20

const remember = (addresses: Set<string>, address: string): void => {
  for (const oldest of addresses) {
    if (addresses.size < MOST_ADDRESSES) break
    addresses.delete(oldest)
  }
  addresses.add(address)
}

/** The server's open connections: their limits, and the order of their responses even if a client violates HTTP. */
export class OpenConnections {
  /** In the order in which they were opened or last sent a request. */
  readonly #open = new Map<Socket, Connection>()
  readonly #perAddress = new Map<string, number>()
  /**
   * Addresses that sent a valid key. Node reads their connections itself, which takes a fifth less time than through a
   * {@link SocketReader}. An address that then sends far ahead of its responses is disconnected and not trusted again.
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

  /** Records a request and its response; false if the connection gets no more responses. */
  note(request: IncomingMessage, response: ServerResponse, body: RequestBody): boolean {
    const connection = this.#open.get(request.socket)
    if (connection === undefined || connection.requests >= this.limits.maxRequestsPerConnection) return false
    connection.pipelined = isOver(connection.response) ? 0 : connection.pipelined + 1
    connection.request = request
    connection.body = body
    connection.response = response
    connection.requests++
    this.#open.delete(request.socket)
    this.#open.set(request.socket, connection)
    if (connection.reader !== undefined) connection.reader.note(request, response)
    else if (connection.pipelined > MOST_PIPELINED) {
      this.#distrust(request.socket, connection.address)
      return false
    }
    if (this.#isStopping || connection.requests === this.limits.maxRequestsPerConnection)
      response.shouldKeepAlive = false
    return true
  }

  /** Records that the key of a request is good. */
  authenticated({ socket }: IncomingMessage): void {
    const address = this.#open.get(socket)?.address
    if (address === undefined || this.#trusted.has(address) || this.#distrusted.has(address)) return
    remember(this.#trusted, address)
  }

  /** Abandons a connection that node no longer reads: sends a last response after all earlier ones, and closes it. */
  abandon(socket: Socket, error: ParseError, lastResponse: LastResponse): void {
    if (error.code !== TOO_LATE) {
      this.#abandonNow(socket, error, lastResponse)
      return
    }
    const request = this.#open.get(socket)?.request
    const wasComplete = request?.complete === true
    // A process that was suspended finds the time over before it reads what arrived meanwhile. A turn of the event loop later it has read it.
    setImmediate(() => {
      const latest = this.#open.get(socket)?.request
      const isInTime = latest?.complete === true && !(wasComplete && latest === request)
      if (!isInTime) this.#abandonNow(socket, error, lastResponse)
    })
  }

  #abandonNow(socket: Socket, error: ParseError, lastResponse: LastResponse): void {
    const connection = this.#open.get(socket)
    const isOver = error.code === TOO_LATE || error.code === "HPE_INVALID_EOF_STATE"
    // Nothing was sent, so a response would be taken for that to the request that the client is just sending.
    const isUnused = error.code === TOO_LATE && socket.bytesRead === 0
    if (connection === undefined || !socket.writable || isUnused || (connection.isAbandoned && isOver)) {
      socket.destroy()
    } else if (!connection.isAbandoned) {
      connection.isAbandoned = true
      connection.reader?.stop()
      dropRest(socket)
      this.#respondAndClose(socket, connection, isOver, lastResponse)
    }
  }

  /** The client asked for a tunnel, for which node passes on the bare connection. */
  refuseTunnel(socket: Socket, lastResponse: LastResponse): void {
    socket.on("error", () => socket.destroy())
    const connection = this.#open.get(socket)
    connection?.reader?.stop()
    this.#after(connection?.response, () => endWith(socket, true, lastResponse))
  }

  /** Ends keep-alive: from now on every response is the last of its connection. */
  endKeepAlive(): void {
    this.#isStopping = true
    for (const { response } of this.#open.values()) {
      if (response !== undefined && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  /** Closes connections on which no client waits for a response. */
  stop(): void {
    for (const [socket, { response, isAbandoned }] of this.#open) {
      // Opened in advance without a request: node takes it for busy.
      if (response === undefined && socket.bytesRead === 0) socket.destroy()
      // The last response was sent, and the client still sends.
      if (isAbandoned && socket.writableEnded) socket.destroySoon()
    }
  }

  /** Closes all connections that are left. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  #accept(socket: Socket): void {
    const address = countedAddress(socket.remoteAddress ?? "unknown", this.limits.ipv6Prefix)
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
    const left = (this.#perAddress.get(address) ?? 0) - 1
    if (left > 0) this.#perAddress.set(address, left)
    else this.#perAddress.delete(address)
  }

  #distrust(socket: Socket, address: string): void {
    this.#trusted.delete(address)
    remember(this.#distrusted, address)
    // Requests that node has parsed already no longer find their connection, and get no response.
    this.#forget(socket)
    socket.destroy()
    for (const [other, connection] of this.#open) {
      if (connection.address !== address || connection.reader !== undefined) continue
      connection.reader = new SocketReader(other, this.backlog)
      const { request, response } = connection
      if (request !== undefined && response !== undefined) connection.reader.note(request, response)
    }
  }

  /**
   * Whether there is room for one more connection of an address. A full server closes a connection of the address that holds most,
   * so that a few addresses cannot keep out all others.
   */
  #makeRoom(address: string): boolean {
    const held = this.#perAddress.get(address) ?? 0
    if (held >= this.limits.maxConnectionsPerAddress) {
      return this.#closeIdle((connection) => connection.address === address)
    }
    if (this.#open.size < this.limits.maxConnections) return true
    const busiestAddress = this.#busiestBeside(held)
    const isOfBusiest = (connection: Connection) => connection.address === busiestAddress
    // An address that holds fewer than the new one's keeps them all.
    const mayGiveWay = (connection: Connection) => (this.#perAddress.get(connection.address) ?? 0) >= held
    return this.#closeIdle(isOfBusiest) || this.#closeIdle(mayGiveWay) || this.#closeFirst(isOfBusiest)
  }

  /** The address with most connections, if one less is still more than `held` and one more. */
  #busiestBeside(held: number): string | undefined {
    let busiest: string | undefined
    let most = held + 1
    for (const [address, count] of this.#perAddress) {
      if (count <= most) continue
      busiest = address
      most = count
    }
    return busiest
  }

  /**
   * Closes the connection that has been idle for longest. If none is idle, it closes one whose response was begun: its client
   * still sends an unwanted body, or does not read the response.
   */
  #closeIdle(matches: (connection: Connection) => boolean): boolean {
    return (
      this.#closeFirst((connection) => isOver(connection.response) && matches(connection)) ||
      this.#closeFirst((connection) => connection.response?.headersSent === true && matches(connection))
    )
  }

  #closeFirst(matches: (connection: Connection) => boolean): boolean {
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
    { request, body, response }: Connection,
    isOver: boolean,
    lastResponse: LastResponse
  ): void {
    if (request === undefined || response === undefined || request.complete) {
      this.#after(response, () => endWith(socket, isOver || this.#isStopping, lastResponse))
    } else if (response.headersSent) {
      // The error is in the body of a request that has its response already.
      socket.destroy()
    } else {
      response.shouldKeepAlive = false
      if (isOver) socket.once("finish", () => socket.destroy())
      body?.abort()
    }
  }

  #after(response: ServerResponse | undefined, act: () => void): void {
    if (response === undefined || response.writableFinished || response.destroyed) act()
    else response.once("close", act)
  }
}

/** Drops what a connection still sends, which node no longer parses but still reads. */
const dropRest = (socket: Socket): void => {
  const before = socket.bytesRead
  socket.on("data", () => {
    if (socket.bytesRead - before > Limits.unwanted_body_bytes) closeConnection(socket)
  })
}

/** Sends the last response of a connection. `isOver`: the client has nothing more to send, or had its time for it. */
const endWith = (socket: Socket, isOver: boolean, lastResponse: LastResponse) =>
  lastResponse((response) => {
    socket.end(rawResponse(response))
    if (isOver) socket.destroySoon()
  })

/** How many bytes node's parser gets at once, unless a head ends before or a body of known length follows. */
const SLICE_BYTES = 512

/** The end of a head, after which the next request may begin. */
const HEAD_END = "\r\n\r\n"

const upTo = (bytes: Buffer, length: number): Buffer => (bytes.length <= length ? bytes : bytes.subarray(0, length))

/** Whether a response was sent, or never will be. */
const isOver = (response: ServerResponse | undefined): boolean =>
  response === undefined || response.closed || response.writableFinished

/**
 * Reads a connection in place of node, whose parser would make objects of all requests in the 64 KiB that it reads at once, up to
 * 2,500 of them. This class gives the parser one request at a time. Until that has its response, what follows stays bytes, and the
 * rest stays in the socket, so that the network holds back a client that does not wait for its responses.
 */
class SocketReader {
  readonly #socket: Socket
  readonly #backlog: Backlog
  readonly #parse: ((chunk: Buffer) => void) | undefined
  /** Bytes that were read before the parser may have them. */
  #held: Buffer | undefined
  #isPaused = false
  #isOver = false
  /** The latest request, its response, and the response before it. */
  #request: IncomingMessage | undefined
  #response: ServerResponse | undefined
  #earlier: ServerResponse | undefined
  /** How many bytes of the slice being parsed may belong to the body of a request that begins in it. */
  #bodyInSlice = 0
  /** Bytes that can only be the body of the latest request. */
  #bodyLeft = 0

  constructor(socket: Socket, backlog: Backlog) {
    this.#socket = socket
    this.#backlog = backlog
    const [parse, ...others] = socket.listeners("data")
    // If a later version of node reads sockets in another way, it reads ahead as it likes.
    if (parse === undefined || others.length > 0) return
    this.#parse = parse as (chunk: Buffer) => void
    // A listener for data makes node emit the bytes instead of parsing them.
    socket.on("data", (chunk: Buffer) => this.#take(chunk))
    socket.off("data", this.#parse)
  }

  /** The parser found a request. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request
    this.#earlier = this.#response
    this.#response = response
    this.#bodyLeft = announcedLength(request) - this.#bodyInSlice
  }

  /** Parses nothing more: node has released the connection's parser, or no request can follow. */
  stop(): void {
    this.#isOver = true
    this.#held = undefined
    this.#flow()
  }

  /** Whether no request waits for its response, except one whose body has not arrived yet. */
  get #isReady(): boolean {
    return isOver(this.#response) || (isOver(this.#earlier) && this.#request?.complete === false)
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#held === undefined) this.#parseAll(chunk)
    else this.#hold(Buffer.concat([this.#held, chunk]))
  }

  #goOn(): void {
    const held = this.#held
    if (held === undefined || !this.#isReady || this.#socket.destroyed) return
    this.#held = undefined
    this.#parseAll(held)
    if (this.#held === undefined) this.#flow()
  }

  #parseAll(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isOver && !this.#socket.destroyed) {
      if (!this.#isReady) {
        this.#hold(chunk.subarray(at))
        return
      }
      const slice = this.#firstOf(at === 0 ? chunk : chunk.subarray(at))
      const before = this.#request
      this.#parse?.(slice)
      if (this.#request === before) this.#bodyLeft -= slice.length
      at += slice.length
    }
  }

  /** The first of these bytes, as many as the parser gets at once. */
  #firstOf(bytes: Buffer): Buffer {
    this.#bodyInSlice = 0
    if (this.#bodyLeft > 0) return upTo(bytes, this.#bodyLeft)
    const slice = upTo(bytes, SLICE_BYTES)
    // A body of unknown length may contain the bytes of a head's end, even at every fourth byte.
    const end = this.#request?.complete === false ? -1 : slice.indexOf(HEAD_END)
    if (end >= 0) return upTo(slice, end + HEAD_END.length)
    this.#bodyInSlice = slice.length
    return slice
  }

  #hold(bytes: Buffer): void {
    const isWaiting = this.#held !== undefined
    this.#held = bytes
    this.#isPaused = true
    this.#socket.pause()
    if (isWaiting) return
    const onResponded = () => {
      if (this.#held !== undefined && this.#isReady) this.#backlog.add(() => this.#goOn())
    }
    // The held bytes wait for the latest response, or for the one before it if the latest request lacks its body.
    for (const response of [this.#earlier, this.#response]) if (!isOver(response)) response?.once("close", onResponded)
  }

  #flow(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }
}
