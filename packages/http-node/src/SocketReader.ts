import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Backlog } from "./Backlog.js"
import { announcedLength } from "./nodeRequest.js"

/**
 * The number of bytes that node's parser gets at once, unless a head ends earlier or a body of known length follows.
 */
const SLICE_BYTES = 512

/** The end of a head, after which the next request may begin. */
const HEAD_END = "\r\n\r\n"

const firstBytes = (bytes: Buffer, length: number): Buffer =>
  bytes.length <= length ? bytes : bytes.subarray(0, length)

/** Whether a response was sent or can no longer be sent. */
export const isResponseOver = (response: ServerResponse | undefined): boolean =>
  response === undefined || response.closed || response.writableFinished

/**
 * Reads a connection in place of node, whose parser would create objects for all requests in the 64 KiB that it reads
 * at once, up to 2,500. This class passes one request at a time to the parser. Until that request has its response, the
 * following bytes are buffered unparsed, and the rest stays in the socket, so that TCP's flow control slows down a
 * client that does not wait for its responses.
 */
export class SocketReader {
  readonly #socket: Socket
  readonly #backlog: Backlog
  readonly #parse: ((chunk: Buffer) => void) | undefined
  /** Bytes that were read but must not be parsed yet. */
  #heldBytes: Buffer | undefined
  #isPaused = false
  #isOver = false
  /** The latest request, its response, and the response before it. */
  #request: IncomingMessage | undefined
  #response: ServerResponse | undefined
  #earlier: ServerResponse | undefined
  /**
   * The number of bytes, in the slice that is being parsed, that may belong to the body of a request that begins in the
   * slice.
   */
  #bodyInSlice = 0
  /** The number of coming bytes that belong to the body of the latest request. */
  #bodyLeft = 0

  constructor(socket: Socket, backlog: Backlog) {
    this.#socket = socket
    this.#backlog = backlog
    const [parse, ...others] = socket.listeners("data")
    // If a later version of node reads sockets differently, this class does nothing, and node reads ahead.
    if (parse === undefined || others.length > 0) return
    this.#parse = parse as (chunk: Buffer) => void
    // A listener for data makes node emit the bytes instead of parsing them.
    socket.on("data", (chunk: Buffer) => this.#onData(chunk))
    socket.off("data", this.#parse)
  }

  /** Records a request that the parser has parsed. */
  recordRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request
    this.#earlier = this.#response
    this.#response = response
    this.#bodyLeft = announcedLength(request) - this.#bodyInSlice
  }

  /** Stops parsing, because node has released the connection's parser or no further request can follow. */
  stop(): void {
    this.#isOver = true
    this.#heldBytes = undefined
    this.#resumeSocket()
  }

  /** Whether no request waits for its response, except a request whose body is still arriving. */
  get #isReady(): boolean {
    return isResponseOver(this.#response) || (isResponseOver(this.#earlier) && this.#request?.complete === false)
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#heldBytes === undefined) this.#parseAll(chunk)
    else this.#hold(Buffer.concat([this.#heldBytes, chunk]))
  }

  #parseHeld(): void {
    const heldBytes = this.#heldBytes
    if (heldBytes === undefined || !this.#isReady || this.#socket.destroyed) return
    this.#heldBytes = undefined
    this.#parseAll(heldBytes)
    if (this.#heldBytes === undefined) this.#resumeSocket()
  }

  #parseAll(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isOver && !this.#socket.destroyed) {
      if (!this.#isReady) {
        this.#hold(chunk.subarray(at))
        return
      }
      const slice = this.#firstOf(at === 0 ? chunk : chunk.subarray(at))
      const previousRequest = this.#request
      this.#parse?.(slice)
      if (this.#request === previousRequest) this.#bodyLeft -= slice.length
      at += slice.length
    }
  }

  /** The first bytes of `bytes`, as many as the parser gets at once. */
  #firstOf(bytes: Buffer): Buffer {
    this.#bodyInSlice = 0
    if (this.#bodyLeft > 0) return firstBytes(bytes, this.#bodyLeft)
    const slice = firstBytes(bytes, SLICE_BYTES)
    // Does not search for the end of a head in a body of unknown length, because the body may contain the same bytes,
    // even at every fourth byte.
    const end = this.#request?.complete === false ? -1 : slice.indexOf(HEAD_END)
    if (end >= 0) return firstBytes(slice, end + HEAD_END.length)
    this.#bodyInSlice = slice.length
    return slice
  }

  #hold(bytes: Buffer): void {
    const isWaiting = this.#heldBytes !== undefined
    this.#heldBytes = bytes
    this.#isPaused = true
    this.#socket.pause()
    if (isWaiting) return
    const onResponded = () => {
      if (this.#heldBytes !== undefined && this.#isReady) this.#backlog.add(() => this.#parseHeld())
    }
    // The buffered bytes wait for the latest response, or for the previous response if the latest request's body is
    // incomplete.
    for (const response of [this.#earlier, this.#response])
      if (!isResponseOver(response)) response?.once("close", onResponded)
  }

  #resumeSocket(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }
}
