import * as Http from "node:http"
import type { Socket } from "node:net"
import { freePort } from "../../../../test/freePort.js"

/** A request as it came in. */
export interface Came {
  readonly signature: string
  readonly body: string
  readonly event: { readonly id: string; readonly type: string; readonly [field: string]: unknown }
}

/** A receiver's reaction to a request; it may respond later. */
export type Manner = (response: Http.ServerResponse, came: Came, nth: number) => void

/** Responds with a status. */
export const saying =
  (status: number, headers: Readonly<Record<string, string>> = {}): Manner =>
  (response) =>
    void response.writeHead(status, headers).end()

/** A shop's receiver on loopback. It can be closed and opened again at the same place. */
export class Shopfront implements AsyncDisposable {
  readonly came: Array<Came> = []
  manner: Manner
  #server: Http.Server | undefined
  #port = 0
  readonly #sockets = new Set<Socket>()
  #watchers: Array<() => void> = []

  private constructor(manner: Manner) {
    this.manner = manner
  }

  static async open(manner: Manner = saying(200)): Promise<Shopfront> {
    const front = new Shopfront(manner)
    // Others must not get the port while it is closed.
    front.#port = await freePort()
    await front.reopen()
    return front
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  get types(): ReadonlyArray<string> {
    return this.came.map(({ event }) => event.type)
  }

  /** Each event that came, once. */
  get ids(): ReadonlySet<string> {
    return new Set(this.came.map(({ event }) => event.id))
  }

  async reopen(): Promise<void> {
    const server = Http.createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (chunk) => {
        body += chunk
      })
      request.on("end", () => {
        const came = { signature: String(request.headers["service-signature"]), body, event: JSON.parse(body) }
        this.came.push(came)
        this.manner(response, came, this.came.length)
        for (const look of this.#watchers) look()
      })
    })
    server.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve))
    this.#server = server
  }

  /** Dies, with every connection. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  /** Returns once so many have come, which the test's own deadline bounds. */
  until(many: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.came.length < many) return
        this.#watchers = this.#watchers.filter((other) => other !== look)
        resolve()
      }
      this.#watchers.push(look)
      look()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
