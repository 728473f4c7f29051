import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { announcedLength } from "./nodeRequest.js"
import type { PipelinedWork } from "./PipelinedWork.js"

/** How many bytes node's parser is handed at once, where neither a head ends before nor a body of known length follows. */
const SLICE_BYTES = 512

/** Where a head ends, and the next request may begin. */
const HEAD_END = "\r\n\r\n"

const upTo = (bytes: Buffer, length: number): Buffer => (bytes.length <= length ? bytes : bytes.subarray(0, length))

/** Whether an answer has left, or never will. */
export const isOver = (response: ServerResponse | undefined): boolean =>
  response === undefined || response.closed || response.writableFinished

/**
 * Stands between a connection and node's parser, which would make objects of all requests in the 64 KiB that it takes at
 * once, up to 2,500. This hands it one request at a time. While that is answered, what follows it stays bytes, and the rest
 * stays unread, so that the network holds back a client that does not wait for its answers.
 */
export class SocketReader {
  readonly #socket: Socket
  readonly #backlog: PipelinedWork
  readonly #parse: ((chunk: Buffer) => void) | undefined
  /** What was read before it was wanted. */
  #held: Buffer | undefined
  #isPaused = false
  #isOver = false
  /** The latest request, its answer, and the answer before it. */
  #request: IncomingMessage | undefined
  #response: ServerResponse | undefined
  #earlier: ServerResponse | undefined
  /** How many bytes of the slice that is being parsed may belong to the body of a request that begins in it. */
  #bodyInSlice = 0
  /** Bytes that can only be the body of the latest request. */
  #bodyLeft = 0

  constructor(socket: Socket, backlog: PipelinedWork) {
    this.#socket = socket
    this.#backlog = backlog
    const [parse, ...others] = socket.listeners("data")
    // Should node read sockets in another way some day, it reads ahead as it likes.
    if (parse === undefined || others.length > 0) return
    this.#parse = parse as (chunk: Buffer) => void
    // A listener for data makes node hand the bytes to us, in place of its parser.
    socket.on("data", (chunk: Buffer) => this.#take(chunk))
    socket.off("data", this.#parse)
  }

  /** The parser found a request, which this will answer. */
  asked(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request
    this.#earlier = this.#response
    this.#response = response
    this.#bodyLeft = announcedLength(request) - this.#bodyInSlice
  }

  /** Nothing more is parsed: node has let go of the connection's parser, or no request can follow. */
  stop(): void {
    this.#isOver = true
    this.#held = undefined
    this.#flow()
  }

  /** No request waits for its answer, but for one that still waits for its body. */
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

  /** What the parser is handed of these bytes. */
  #firstOf(bytes: Buffer): Buffer {
    this.#bodyInSlice = 0
    if (this.#bodyLeft > 0) return upTo(bytes, this.#bodyLeft)
    const slice = upTo(bytes, SLICE_BYTES)
    // A body of unknown length may hold what looks like the end of a head, at every fourth byte.
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
    const answered = () => {
      if (this.#held !== undefined && this.#isReady) this.#backlog.add(() => this.#goOn())
    }
    // What is held waits for the latest answer, or for the one before where the latest request lacks its body.
    for (const response of [this.#earlier, this.#response]) if (!isOver(response)) response?.once("close", answered)
  }

  #flow(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }
}
