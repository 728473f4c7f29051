import * as Http from "node:http"
import type { Socket } from "node:net"
import { freePort } from "../../../../test/freePort.js"

/** A request that the receiver received. */
export interface ReceivedRequest {
  readonly signature: string
  readonly body: string
  readonly event: { readonly id: string; readonly type: string; readonly [field: string]: unknown }
}

/** Responds to a request, perhaps later. */
export type Responder = (response: Http.ServerResponse, received: ReceivedRequest, nth: number) => void

/** Responds with a status. */
export const respondsWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Responder =>
  (response) =>
    void response.writeHead(status, headers).end()

/** A shop's webhook receiver on loopback. It can be closed and opened again at the same port. */
export class WebhookReceiver implements AsyncDisposable {
  readonly requests: Array<ReceivedRequest> = []
  responder: Responder
  #server: Http.Server | undefined
  #port = 0
  readonly #sockets = new Set<Socket>()
  #watchers: Array<() => void> = []

  private constructor(responder: Responder) {
    this.responder = responder
  }

  static async open(responder: Responder = respondsWith(200)): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(responder)
    // freePort is outside the system's range of ephemeral ports, so that no connection takes the port while the
    // receiver is closed.
    receiver.#port = await freePort()
    await receiver.reopen()
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  get types(): ReadonlyArray<string> {
    return this.requests.map(({ event }) => event.type)
  }

  /** The ids of the received events. */
  get ids(): ReadonlySet<string> {
    return new Set(this.requests.map(({ event }) => event.id))
  }

  async reopen(): Promise<void> {
    const server = Http.createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (chunk) => {
        body += chunk
      })
      request.on("end", () => {
        const received = { signature: String(request.headers["service-signature"]), body, event: JSON.parse(body) }
        this.requests.push(received)
        this.responder(response, received, this.requests.length)
        for (const check of this.#watchers) check()
      })
    })
    server.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve))
    this.#server = server
  }

  /** Stops listening, and closes every connection. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  /** Waits until the receiver has received `many` requests, at most until the test's time limit. */
  until(many: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.requests.length < many) return
        this.#watchers = this.#watchers.filter((other) => other !== check)
        resolve()
      }
      this.#watchers.push(check)
      check()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
