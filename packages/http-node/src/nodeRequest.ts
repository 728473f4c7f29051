import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { BodyIncomplete, BodyTooLarge, type HttpRequest, isHeaderRepeated } from "@workshop/core/http"
import { Effect } from "effect"

/** Whether a request has a body that may still be on its way. */
export const awaitsBody = (request: IncomingMessage): boolean => !request.complete && announcedLength(request) !== 0

const broken = Effect.failSync(() => new BodyIncomplete())

const tooLarge = Effect.failSync(() => new BodyTooLarge())

/** How long a request says that its body is, in bytes: 0 where it has none, NaN where it does not say. */
export const announcedLength = ({ headers }: IncomingMessage): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Number.NaN

/** The body of a request of `node:http`. */
export class RequestBody {
  readonly #request: IncomingMessage
  readonly #onAsked: (() => void) | undefined
  #isAborted = false
  #onAborted: (() => void) | undefined

  /** `onAsked` runs when the body is asked for and still on its way. */
  constructor(request: IncomingMessage, onAsked?: () => void) {
    this.#request = request
    this.#onAsked = onAsked
  }

  /** No more of the body will come, though its connection lives. */
  abort(): void {
    this.#isAborted = true
    this.#onAborted?.()
  }

  read(most: number): Effect.Effect<Uint8Array, BodyTooLarge | BodyIncomplete> {
    return Effect.suspend(() => {
      const request = this.#request
      const length = announcedLength(request)
      if (length > most) return tooLarge
      if (request.destroyed || this.#isAborted) return broken
      // Here as a whole, it is taken at once, and nothing has to wait.
      if (length > 0 && request.readableLength === length) return Effect.succeed(request.read() as Buffer)
      return this.#arriving(most)
    })
  }

  #arriving(most: number) {
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
        if (size <= most) return chunks.push(chunk)
        stop()
        chunks = []
        // Without a listener the rest would wait in the socket: the client would never get to read its response.
        request.resume()
        return resume(tooLarge)
      }
      // Only the first call of `resume` counts, so the listeners of a request that is over may stay.
      const onEnd = () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      const onBroken = () => resume(broken)
      this.#onAborted = onBroken
      // A request that fails without a listener for errors emits "close" alone.
      request.on("data", onData).on("end", onEnd).on("close", onBroken)
      this.#onAsked?.()
      return Effect.sync(stop)
    })
  }
}

/** The head of a request, parsed by Node or by hand. */
export interface RequestHead {
  readonly method: string
  /** As sent. */
  readonly url: string
  /** A header by its name in lower case. */
  readonly header: HttpRequest["header"]
  /** Names and values in turn, as sent. */
  readonly rawHeaders: ReadonlyArray<string>
  /** Of the other end of the connection. */
  readonly remoteAddress: string | undefined
}

/** An address without the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`, and also `[2001:db8::1]`. */
const withoutPort = (text: string): string => {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? []
  return bracketed ?? dotted ?? text
}

/** The client's address; behind a proxy, the one that the proxy added last. */
const addressOf = ({ header, remoteAddress }: RequestHead, trustProxy: boolean): string => {
  const last = trustProxy ? header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined
  const address = last === undefined ? undefined : withoutPort(last)
  return address !== undefined && isIP(address) !== 0 ? address : (remoteAddress ?? "unknown")
}

/** `http://host/path` is what a client sends that takes us for a proxy; it means the same path (RFC 9112 §3.2.2). */
const originForm = (url: string): string => {
  if (url.startsWith("/")) return url
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0]
  const rest = origin && url.slice(origin.length)
  return rest === undefined || rest.startsWith("/") ? (rest ?? url) : `/${rest}`
}

/** A request as the pipeline takes it. */
export const httpRequestFrom = (
  head: RequestHead,
  trustProxy: boolean,
  body: HttpRequest["body"],
  onAdmitted?: () => void
): HttpRequest => {
  const url = originForm(head.url)
  const question = url.indexOf("?")
  return {
    method: head.method,
    path: question < 0 ? url : url.slice(0, question),
    query: question < 0 ? "" : url.slice(question + 1),
    header: head.header,
    repeats: (name) => isHeaderRepeated(head.rawHeaders, name),
    address: addressOf(head, trustProxy),
    body,
    onAdmitted
  }
}

/** A request of `node:http` as the pipeline takes it. */
export const httpRequestOf = (
  request: IncomingMessage,
  trustProxy: boolean,
  body = new RequestBody(request),
  onAdmitted?: () => void
): HttpRequest =>
  httpRequestFrom(
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
    (most) => body.read(most),
    onAdmitted
  )
