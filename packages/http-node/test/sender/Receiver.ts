import * as Net from "node:net"
import * as Tls from "node:tls"
import { type SendResult, type ShopId, sandboxAddresses, type WebhookPost } from "@workshop/core"
import { Effect } from "effect"
import { make, type NodeSender, type NodeSenderOptions } from "../../src/sender/NodeSender.js"

/** A receiver's reactions to connections and requests. `onRequest` is called with each whole request, and writes any bytes to the socket. */
export interface Behaviour {
  readonly onRequest?: (socket: Net.Socket, request: string, nth: number) => void
  readonly onConnection?: (socket: Net.Socket, nth: number) => void
  readonly tls?: Tls.TlsOptions
  readonly host?: string
}

/** A listening server with the connections and requests that it received. */
export interface Receiver extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly requests: ReadonlyArray<string>
  readonly connections: ReadonlyArray<Net.Socket>
}

const isWhole = (text: string): boolean => {
  const [head = "", body] = text.split("\r\n\r\n", 2)
  return body !== undefined && Buffer.byteLength(body) >= Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
}

/** Opens a receiver on bare sockets on loopback, so that it can violate HTTP. */
export const receiver = async ({ onRequest, onConnection, tls, host = "127.0.0.1" }: Behaviour): Promise<Receiver> => {
  const requests: Array<string> = []
  const connections: Array<Net.Socket> = []
  const serve = (socket: Net.Socket) => {
    connections.push(socket)
    socket.on("error", () => {})
    onConnection?.(socket, connections.length)
    if (onRequest === undefined) return
    let text = ""
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8")
      if (!isWhole(text)) return
      requests.push(text)
      text = ""
      onRequest(socket, requests.at(-1)!, requests.length)
    })
  }
  const server = tls === undefined ? Net.createServer({ allowHalfOpen: true }, serve) : Tls.createServer(tls, serve)
  server.on("tlsClientError", () => {})
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as Net.AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook?from=us`,
    requests,
    connections,
    [Symbol.asyncDispose]: () => {
      for (const socket of connections) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}

/** The text of a response with this status line, headers and body. */
export const answer = (status: string, headers: ReadonlyArray<string> = [], body = ""): string =>
  [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers, "", body].join("\r\n")

/** A receiver that sends the same response to every request. */
export const answering = (text: string, behaviour: Behaviour = {}) =>
  receiver({ onRequest: (socket) => socket.write(text), ...behaviour })

/** A webhook request of the first shop. */
export const post = (url: string, rest: Partial<WebhookPost> = {}): WebhookPost => ({
  shop_id: "shop_1" as ShopId,
  url,
  headers: { "Service-Signature": "t=1732000000,v1=00" },
  body: '{"id":"evt_1","type":"ping","data":{"text":"é"}}',
  ...rest
})

/**
 * Runs `use` with a sender that may call loopback addresses, as in the sandbox, and whose deadline is a second by
 * default.
 */
export const withSender = <A>(
  options: Partial<NodeSenderOptions>,
  use: (send: (post: WebhookPost) => Promise<SendResult>, sender: NodeSender) => Promise<A>
): Promise<A> =>
  Effect.gen(function* () {
    const sender = yield* make({ policy: sandboxAddresses, deadlineMs: 1000, bodyMs: 200, ...options })
    return yield* Effect.promise(() => use((post) => Effect.runPromise(sender.send(post)), sender))
  }).pipe(Effect.scoped, Effect.runPromise)

/** Sends one request with a sender of {@link withSender}. */
export const sendOnce = (url: string, options: Partial<NodeSenderOptions> = {}) =>
  withSender(options, (send) => send(post(url)))

/** Waits until a condition holds, for at most about a second. */
export const until = async (holds: () => boolean) => {
  for (let i = 0; i < 200 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
  if (!holds()) throw new Error("The condition did not hold within a second")
}
