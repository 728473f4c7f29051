import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { atEndOfFile } from "../../../../test/endOfFile.js"

/** A parsed response. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body; an empty object without a body. */
  readonly json: {
    readonly success: boolean
    readonly data?: Record<string, unknown>
    readonly error?: {
      readonly code: string
      readonly message: string
      readonly details?: { readonly issues: ReadonlyArray<{ readonly in: string; readonly message: string }> }
    }
  }
}

/** A client that sends exactly the given bytes, and reads responses one by one. */
export class RawClient {
  #received = Buffer.alloc(0)
  #isEnded = false
  /** The code of the connection's error, such as `ECONNRESET`. */
  error: string | undefined

  private constructor(readonly socket: Socket) {
    // Destroys the socket at the end of the test file, because tests leave connections half open.
    atEndOfFile(() => socket.destroy())
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      socket.emit("more")
    })
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.error = error.code
    })
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.#isEnded = true
        socket.emit("more")
      })
    }
  }

  /** Opens a connection, from `localAddress`. It stays half open when the server ends it. */
  static async connect(port: number, localAddress = "127.0.0.1"): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true })
    const client = new RawClient(socket)
    await once(socket, "connect")
    return client
  }

  send(...lines: ReadonlyArray<string>): this {
    this.socket.write(lines.join("\r\n"))
    return this
  }

  /** Sends a request with the given header lines and body, to which it adds `Host` and `Content-Length`. */
  request(line: string, headers: ReadonlyArray<string> = [], body = ""): this {
    const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
    return this.send(`${line} HTTP/1.1`, "Host: localhost", ...headers, ...length, "", body)
  }

  /** Reads the next response; with `toHead`, a response without a body. */
  async nextResponse({ toHead = false } = {}): Promise<RawResponse> {
    while (true) {
      const response = this.#take(toHead)
      if (response !== undefined) return response
      if (this.#isEnded) throw new Error(`No answer: ${this.error ?? "ended"} after "${this.#received}"`)
      await once(this.socket, "more")
    }
  }

  /** Waits until the server has ended the connection, and returns the unread text. */
  async end(): Promise<string> {
    while (!this.#isEnded) await once(this.socket, "more")
    return this.#received.toString()
  }

  #take(toHead: boolean): RawResponse | undefined {
    const headEnd = this.#received.indexOf("\r\n\r\n")
    if (headEnd < 0) return undefined
    const [line = "", ...fields] = this.#received.subarray(0, headEnd).toString().split("\r\n")
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(":")
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
      })
    )
    const status = Number(line.split(" ")[1])
    const isBare = toHead || status < 200
    const end = headEnd + 4 + (isBare ? 0 : Number(headers["content-length"]))
    if (this.#received.length < end) return undefined
    const text = this.#received.subarray(headEnd + 4, end).toString()
    this.#received = this.#received.subarray(end)
    return { status, headers, text, json: text === "" ? { success: false } : JSON.parse(text) }
  }
}
