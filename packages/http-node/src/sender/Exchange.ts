import type * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Deferred, Effect, FiberId } from "effect"
import type { Call } from "./Call.js"
import type { Connections } from "./Connections.js"
import { codeOf, type NotSent, notSent } from "./NotSent.js"

/** How large the head of an answer may be, and how much of its body is read. */
const HEAD_BYTES = 8 * 1024
const MOST_HEADERS = 64
const BODY_BYTES = 16 * 1024

/** A request ready to go. */
export interface Outgoing {
  readonly pool: string
  /** Undefined where the pool has an idle connection. */
  readonly dialled: Socket | undefined
  readonly path: string
  readonly headers: Http.OutgoingHttpHeaders
  readonly body: string
}

const ofParser = (cause: NodeJS.ErrnoException): NotSent => {
  const code = codeOf(cause) ?? ""
  if (code === "HPE_HEADER_OVERFLOW") return notSent("too_large_head", cause)
  if (code.startsWith("HPE_")) return notSent("malformed", cause)
  // A receiver that wants a certificate of ours says so only after the handshake.
  return notSent(/^ERR_(SSL|TLS)_/.test(code) ? "tls" : "reset", cause)
}

/** One request and what comes back, read as far as the limits allow and then cut off. */
export class Exchange {
  /** The status, as soon as its line is there. */
  readonly answered = Deferred.unsafeMake<number, NotSent>(FiberId.none)
  /** The end of what is read. Fails where the rest of the head turns out to be no HTTP, or too much of it. */
  readonly finished = Deferred.unsafeMake<void, NotSent>(FiberId.none)
  #status: number | null = null
  /** The head is whole and good; nothing that follows takes the answer back. */
  #has_head = false
  #body_bytes = 0
  readonly #stopwatch: () => void

  constructor(
    connections: Connections,
    { pool, dialled, path, headers, body }: Outgoing,
    readonly call: Call,
    readonly onBytes: (bytes: number) => void
  ) {
    const args = { pool, dialled, method: "POST", path, headers, setHost: false, maxHeaderSize: HEAD_BYTES }
    this.#stopwatch = call.stopwatch("first_byte_ms")
    const request = connections.request(args)
    request.maxHeadersCount = MOST_HEADERS + 1
    call.atEnd(() => {
      if (!call.clean) request.destroy()
    })
    request
      .once("socket", (socket: Socket) => this.#listen(socket))
      .once("response", (response: Http.IncomingMessage) => this.#read(request, response))
      .once("upgrade", (response: Http.IncomingMessage, socket: Duplex) => {
        // No longer the request's, so nobody else would.
        socket.destroy()
        this.#answer(response.statusCode!)
        this.#finish()
      })
      .on("error", (cause) => this.#break(ofParser(cause)))
      .once("close", () => (this.#has_head ? this.#finish() : this.#break(notSent("reset"))))
      .end(body, "utf8")
  }

  /** The final status: the parser's word goes over the transcript's. */
  get status(): number | null {
    return this.#status
  }

  #listen(socket: Socket) {
    const hear = (chunk: Buffer) => this.#hear(chunk)
    const measure = () => this.#measure()
    // Before the parser's listener, so that what it refuses is kept for the log; and after it, so that it has its say.
    socket.prependListener("data", hear).on("data", measure)
    this.call.atEnd(() => socket.off("data", hear).off("data", measure))
  }

  #hear(chunk: Buffer) {
    const { transcript } = this.call
    if (transcript.bytes === 0) this.#stopwatch()
    transcript.add(chunk)
    this.onBytes(chunk.length)
    if (transcript.status !== null && !this.#has_head) this.#answer(transcript.status)
  }

  #measure() {
    const { bytes } = this.call.transcript
    // Informational answers without end: the parser limits each of them, but not their number.
    if (!this.#has_head && bytes > HEAD_BYTES) this.#break(notSent("too_large_head"))
    // What is no body counts too: chunk sizes, their extensions, trailers.
    if (bytes > HEAD_BYTES + BODY_BYTES) this.#finish()
  }

  #read(request: Http.ClientRequest, response: Http.IncomingMessage) {
    if (response.rawHeaders.length > 2 * MOST_HEADERS) return this.#break(notSent("too_large_head"))
    this.#has_head = true
    this.#answer(response.statusCode!)
    return response
      .on("data", (chunk: Buffer) => {
        this.#body_bytes += chunk.length
        if (this.#body_bytes > BODY_BYTES) this.#finish()
      })
      .on("end", () => {
        // An answer may come before the request is read; then there is no more to say, and the rest stays unsent.
        this.call.clean = response.complete && request.writableFinished
        this.#finish()
      })
      .on("error", () => this.#finish())
      .on("close", () => this.#finish())
  }

  #answer(status: number) {
    this.#status = status
    Deferred.unsafeDone(this.answered, Effect.succeed(status))
  }

  #finish() {
    Deferred.unsafeDone(this.finished, Effect.void)
  }

  #break(cause: NotSent) {
    const refused = cause.error === "too_large_head" || cause.error === "malformed"
    if (!this.#has_head && (this.#status === null || refused)) {
      Deferred.unsafeDone(this.answered, Effect.fail(cause))
      Deferred.unsafeDone(this.finished, Effect.fail(cause))
    }
    this.#finish()
  }
}
