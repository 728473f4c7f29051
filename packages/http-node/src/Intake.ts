import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Backlog } from "./Backlog.js"
import { announcedLength } from "./NodeArrival.js"

/**
 * How many bytes node's parser is handed at once. It makes objects of every request in them, about 20 at most: of the
 * 64 KiB that it would take by itself, 2,500.
 */
const SLICE_BYTES = 512

/** Whether an answer has left, or never will. */
export const isOver = (response: ServerResponse | undefined): boolean =>
  response === undefined || response.closed || response.writableFinished

/**
 * Stands between a connection and node's parser, which reads whatever comes: while a request is being answered, what
 * follows it stays unread, so that a client that does not wait for its answers is held back by the network.
 */
export class Intake {
  readonly #socket: Socket
  readonly #backlog: Backlog
  readonly #parse: ((chunk: Buffer) => void) | undefined
  /** What was read before it was wanted. */
  #held: Buffer | undefined
  #isPaused = false
  #isOver = false
  /** The latest request, its answer, and the answer before it. */
  #request: IncomingMessage | undefined
  #response: ServerResponse | undefined
  #earlier: ServerResponse | undefined
  /** Of the slice that is being parsed. */
  #sliceLength = 0
  /** Bytes that can only be the body of the latest request. */
  #bodyLeft = 0

  constructor(socket: Socket, backlog: Backlog) {
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
    this.#bodyLeft = announcedLength(request) - this.#sliceLength
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
    if (this.#held === undefined && isOver(this.#response) && chunk.length <= SLICE_BYTES) {
      // What a client that waits for its answers sends, as it is.
      this.#sliceLength = chunk.length
      this.#bodyLeft -= chunk.length
      this.#parse?.(chunk)
    } else if (this.#held === undefined) this.#parseAll(chunk)
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
      // Of an unknown length it is NaN.
      const length = Math.max(SLICE_BYTES, this.#bodyLeft || 0)
      const slice = chunk.subarray(at, at + length)
      const before = this.#request
      this.#sliceLength = slice.length
      this.#parse?.(slice)
      if (this.#request === before) this.#bodyLeft -= slice.length
      at += slice.length
    }
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
