import type { IncomingMessage } from "node:http"
import { isIP, type Socket } from "node:net"
import { Limits } from "@workshop/core"
import { BodyIncomplete, BodyTooLarge, type HttpRequest } from "@workshop/core/http"
import { isHeaderRepeated } from "@workshop/core/internal"
import { Effect } from "effect"

/**
 * The length of a request's body according to its headers, in bytes: 0 without a body, NaN if the headers do not have
 * the length.
 */
export const announcedLength = ({ headers }: IncomingMessage): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Number.NaN

/** Whether a request has a body that may not have arrived yet. */
export const awaitsBody = (request: IncomingMessage): boolean => !request.complete && announcedLength(request) !== 0

const bodyIncomplete = Effect.failSync(() => new BodyIncomplete())

const tooLarge = Effect.failSync(() => new BodyTooLarge())

/** The body of a request of `node:http`. */
export class RequestBody {
  readonly #request: IncomingMessage
  readonly #onAwaited: (() => void) | undefined
  #isAborted = false
  #onAborted: (() => void) | undefined

  /** `onAwaited` is called when the service begins to wait for a body that has not arrived. */
  constructor(request: IncomingMessage, onAwaited?: () => void) {
    this.#request = request
    this.#onAwaited = onAwaited
  }

  /** Fails the read, because the rest of the body will not arrive although the connection stays open. */
  abort(): void {
    this.#isAborted = true
    this.#onAborted?.()
  }

  /** Reads the body, at most `max_bytes` bytes. Run it once. */
  read(max_bytes: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyIncomplete> {
    return Effect.suspend(() => {
      const request = this.#request
      const length = announcedLength(request)
      if (length > max_bytes) return tooLarge
      if (request.destroyed || this.#isAborted) return bodyIncomplete
      // Nothing waits for a body that has arrived completely.
      if (length > 0 && request.readableLength === length) return Effect.succeed(request.read() as Buffer)
      return this.#arriving(max_bytes)
    })
  }

  #arriving(max_bytes: number) {
    const request = this.#request
    return Effect.async<Uint8Array, BodyTooLarge | BodyIncomplete>((resume) => {
      let chunks: Array<Buffer> = []
      let size = 0
      const stop = () => {
        this.#onAborted = undefined
        request.off("data", onData).off("end", onEnd).off("close", onBroken)
      }
      const onData = (chunk: Buffer) => {
        size += chunk.length
        if (size <= max_bytes) return chunks.push(chunk)
        stop()
        chunks = []
        // Continues to read without a listener, because otherwise the rest would stay in the socket, and a client that
        // still sends would not read its response.
        request.resume()
        return resume(tooLarge)
      }
      // Only the first call of `resume` counts, so the listeners of a finished request may stay.
      const onEnd = () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      const onBroken = () => resume(bodyIncomplete)
      this.#onAborted = onBroken
      // Without a listener for errors, a failed request emits only "close".
      request.on("data", onData).on("end", onEnd).on("close", onBroken)
      this.#onAwaited?.()
      return Effect.sync(stop)
    })
  }
}

/** The time that a client has to read the last response on its connection, in milliseconds of real time. */
const LINGER_MS = 1_000

/**
 * Closes a connection after its client had time to read the response, because destroying the socket at once might lose
 * the response.
 */
export const closeConnection = (socket: Socket): void => {
  socket.pause()
  socket.end()
  socket.setTimeout(LINGER_MS, () => socket.destroy())
}

/**
 * Reads the rest of a body that no endpoint reads, up to `Limits.unwanted_body_bytes`, so that the connection can be
 * reused. If the body is larger, closes the connection.
 */
export const discardBody = (request: IncomingMessage): void => {
  let remainingBytes: number = Limits.unwanted_body_bytes
  const onData = (chunk: Buffer) => {
    remainingBytes -= chunk.length
    if (remainingBytes >= 0) return
    request.off("data", onData).pause()
    closeConnection(request.socket)
  }
  request.on("data", onData)
  // Reads synchronously, because a tick later node itself would begin to discard the unread body without a limit.
  request.read(0)
}

/** The head of a request, parsed by node or by {@link unknownMethod}. */
export interface RequestHead {
  readonly method: string
  /** The request target as sent. */
  readonly url: string
  /** Returns a header by its lower-case name. */
  readonly header: HttpRequest["header"]
  /** Alternating names and values of the headers, as sent. */
  readonly rawHeaders: ReadonlyArray<string>
  /** The remote address of the connection. */
  readonly remoteAddress: string | undefined
}

/** Removes the port or the brackets that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
const withoutPort = (text: string): string => {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? []
  return ipv6 ?? ipv4 ?? text
}

/** The client's address; behind a proxy, the last address in X-Forwarded-For, which the proxy added. */
const addressOf = ({ header, remoteAddress }: RequestHead, trustProxy: boolean): string => {
  const forwardedAddress = trustProxy ? header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined
  const address = forwardedAddress === undefined ? undefined : withoutPort(forwardedAddress)
  return address !== undefined && isIP(address) !== 0 ? address : (remoteAddress ?? "unknown")
}

/** The path of an absolute URL `http://host/path`, which a client sends to a proxy (RFC 9112 §3.2.2). */
const originForm = (url: string): string => {
  if (url.startsWith("/")) return url
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0]
  const rest = origin && url.slice(origin.length)
  return rest === undefined || rest.startsWith("/") ? (rest ?? url) : `/${rest}`
}

/** Makes the pipeline's request from a parsed head and a function that reads the body. */
export const requestFromHead = (head: RequestHead, trustProxy: boolean, body: HttpRequest["body"]): HttpRequest => {
  const url = originForm(head.url)
  const queryStart = url.indexOf("?")
  return {
    method: head.method,
    path: queryStart < 0 ? url : url.slice(0, queryStart),
    query: queryStart < 0 ? "" : url.slice(queryStart + 1),
    header: head.header,
    repeats: (name) => isHeaderRepeated(head.rawHeaders, name),
    address: addressOf(head, trustProxy),
    body
  }
}

/** Makes the pipeline's request from a request of `node:http`. */
export const requestFromNode = (
  request: IncomingMessage,
  trustProxy: boolean,
  body = new RequestBody(request)
): HttpRequest =>
  requestFromHead(
    {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      header: (name) => {
        const value = request.headers[name]
        return Array.isArray(value) ? value.join(", ") : value
      },
      rawHeaders: request.rawHeaders,
      remoteAddress: request.socket.remoteAddress
    },
    trustProxy,
    (max_bytes) => body.read(max_bytes)
  )
