import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { countedAddress, Limits } from "@workshop/core"
import type { HttpResponse } from "@workshop/core/http"
import type { ConnectionLimits } from "./ConnectionLimits.js"
import { closeConnection } from "./discardBody.js"
import type { RequestBody } from "./nodeRequest.js"
import type { PipelinedWork } from "./PipelinedWork.js"
import { type ParseError, rawResponse, TOO_LATE } from "./parseErrors.js"
import { isOver, SocketReader } from "./SocketReader.js"

/** Where a connection stands. */
interface Connection {
  /** By which it is counted. */
  readonly address: string
  /** None where the address is trusted to wait for its answers. */
  reader: SocketReader | undefined
  /** Requests that came, and of the latest ones how many came before the answer to the one before. */
  requests: number
  pipelined: number
  request: IncomingMessage | undefined
  body: RequestBody | undefined
  /** The latest answer: whatever is said outside of node's own order comes after it. */
  response: ServerResponse | undefined
  /** Nothing more is read from it as HTTP. */
  isLeaving: boolean
}

/** How an answer that the pipeline is to give to a broken request is found: given at once or later. */
type Answer = (give: (response: HttpResponse) => void) => void

/** How many addresses are remembered as trusted, and as not to be trusted again. */
const MOST_ADDRESSES = 10_000

/** How many requests a trusted connection may send ahead of their answers. */
const MOST_PIPELINED = 20

const remember = (addresses: Set<string>, address: string): void => {
  for (const oldest of addresses) {
    if (addresses.size < MOST_ADDRESSES) break
    addresses.delete(oldest)
  }
  addresses.add(address)
}

/** The server's open connections: so that each answer finds its place, also when the client does not keep to HTTP. */
export class OpenConnections {
  /** In the order in which they opened or last brought a request. */
  readonly #open = new Map<Socket, Connection>()
  readonly #perAddress = new Map<string, number>()
  /**
   * Addresses from which a good key came: node reads their connections by itself, which takes a fifth less time than through
   * an {@link SocketReader}. One that then sends far ahead of its answers is cut off, and not trusted again.
   */
  readonly #trusted = new Set<string>()
  readonly #distrusted = new Set<string>()
  #isStopping = false

  constructor(
    server: Server,
    readonly limits: ConnectionLimits,
    readonly backlog: PipelinedWork
  ) {
    server.on("connection", (socket: Socket) => this.#accept(socket))
  }

  /** A request came, and this is to answer it: false where no more are answered on its connection. */
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
    if (connection.reader !== undefined) connection.reader.asked(request, response)
    else if (connection.pipelined > MOST_PIPELINED) {
      this.#distrust(request.socket, connection.address)
      return false
    }
    if (this.#isStopping || connection.requests === this.limits.maxRequestsPerConnection)
      response.shouldKeepAlive = false
    return true
  }

  /** The key of a request was found good. */
  admitted({ socket }: IncomingMessage): void {
    const address = this.#open.get(socket)?.address
    if (address === undefined || this.#trusted.has(address) || this.#distrusted.has(address)) return
    remember(this.#trusted, address)
  }

  /** Node gave the connection up: answers what came last and lets the connection go, after all answers before. */
  leave(socket: Socket, error: ParseError, answer: Answer): void {
    const connection = this.#open.get(socket)
    const isOver = error.code === TOO_LATE || error.code === "HPE_INVALID_EOF_STATE"
    if (connection === undefined || !socket.writable || (connection.isLeaving && isOver)) {
      socket.destroy()
    } else if (!connection.isLeaving) {
      connection.isLeaving = true
      connection.reader?.stop()
      dropRest(socket)
      this.#leave(socket, connection, isOver, answer)
    }
  }

  /** The client asked for a tunnel, and node hands over the bare connection. */
  refuseTunnel(socket: Socket, answer: Answer): void {
    socket.on("error", () => socket.destroy())
    const connection = this.#open.get(socket)
    connection?.reader?.stop()
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
    const reader = this.#trusted.has(address) ? undefined : new SocketReader(socket, this.backlog)
    const state = {
      requests: 0,
      pipelined: 0,
      request: undefined,
      body: undefined,
      response: undefined,
      isLeaving: false
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
    // What node has parsed already finds no connection any more, and is not answered.
    this.#forget(socket)
    socket.destroy()
    for (const [other, connection] of this.#open) {
      if (connection.address !== address || connection.reader !== undefined) continue
      connection.reader = new SocketReader(other, this.backlog)
      const { request, response } = connection
      if (request !== undefined && response !== undefined) connection.reader.asked(request, response)
    }
  }

  /**
   * Whether there is room for one more connection of an address. Of a full server the address that holds most gives way, so that
   * a few addresses cannot keep out all others.
   */
  #makeRoom(address: string): boolean {
    const held = this.#perAddress.get(address) ?? 0
    if (held >= this.limits.maxConnectionsPerAddress) {
      return this.#closeIdle((connection) => connection.address === address)
    }
    if (this.#open.size < this.limits.maxConnections) return true
    const crowd = this.#crowdBeside(held)
    const isOfCrowd = (connection: Connection) => connection.address === crowd
    // Whose address holds less than the new one's keeps its place.
    const mayGiveWay = (connection: Connection) => (this.#perAddress.get(connection.address) ?? 0) >= held
    return this.#closeIdle(isOfCrowd) || this.#closeIdle(mayGiveWay) || this.#closeFirst(isOfCrowd)
  }

  /** The address with most connections, where it would still have more than one that gets another one. */
  #crowdBeside(held: number): string | undefined {
    let crowd: string | undefined
    let most = held + 1
    for (const [address, count] of this.#perAddress) {
      if (count <= most) continue
      crowd = address
      most = count
    }
    return crowd
  }

  /**
   * Closes the connection that has been idle for longest. Where none is, one whose request was answered: its client still sends
   * a body that nobody wants, or does not take the answer.
   */
  #closeIdle(isMeant: (connection: Connection) => boolean): boolean {
    return (
      this.#closeFirst((connection) => isOver(connection.response) && isMeant(connection)) ||
      this.#closeFirst((connection) => connection.response?.headersSent === true && isMeant(connection))
    )
  }

  #closeFirst(isMeant: (connection: Connection) => boolean): boolean {
    for (const [socket, connection] of this.#open) {
      if (!isMeant(connection)) continue
      this.#forget(socket)
      socket.destroy()
      return true
    }
    return false
  }

  #leave(socket: Socket, { request, body, response }: Connection, isOver: boolean, answer: Answer): void {
    if (request === undefined || response === undefined || request.complete) {
      this.#after(response, () => depart(socket, isOver || this.#isStopping, answer))
    } else if (response.headersSent) {
      // The error is in the body of a request that was answered already.
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

/** Node parses nothing more of a connection, but goes on to read it. */
const dropRest = (socket: Socket): void => {
  const before = socket.bytesRead
  socket.on("data", () => {
    if (socket.bytesRead - before > Limits.unwanted_body_bytes) closeConnection(socket)
  })
}

/** Says the last answer. `isOver`: the client has nothing more to send, or had its time for it. */
const depart = (socket: Socket, isOver: boolean, answer: Answer) =>
  answer((response) => {
    socket.end(rawResponse(response))
    if (isOver) socket.destroySoon()
  })
