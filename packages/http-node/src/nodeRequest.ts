import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { BodyIncomplete, BodyTooLarge, type HttpRequest, isHeaderRepeated } from "@workshop/core/http"
import { Effect } from "effect"

const BROKEN = "broken"
const brokenOff = new WeakSet<IncomingMessage>()

/** Tells that no more of a request's body will come, though its connection lives. */
export const abortBody = (request: IncomingMessage): void => {
  brokenOff.add(request)
  request.emit(BROKEN)
}

/** Whether a request has a body that may still be on its way. */
export const awaitsBody = (request: IncomingMessage): boolean => !request.complete && announcedLength(request) !== 0

const broken = Effect.failSync(() => new BodyIncomplete())

const tooLarge = Effect.failSync(() => new BodyTooLarge())

/** How long a request says that its body is, in bytes: 0 where it has none, NaN where it does not say. */
export const announcedLength = ({ headers }: IncomingMessage): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Number.NaN

const body =
  (request: IncomingMessage, onAsked: (() => void) | undefined): HttpRequest["body"] =>
  (most) =>
    Effect.suspend(() => {
      const length = announcedLength(request)
      if (length > most) return tooLarge
      if (request.destroyed || brokenOff.has(request)) return broken
      // Here as a whole, it is taken at once, and nothing has to wait.
      if (length > 0 && request.readableLength === length) return Effect.succeed(request.read() as Buffer)
      return awaited(request, most, onAsked)
    })

/** A body that is still on its way. */
const awaited = (request: IncomingMessage, most: number, onAsked: (() => void) | undefined) =>
  Effect.async<Uint8Array, BodyTooLarge | BodyIncomplete>((resume) => {
    let chunks: Array<Buffer> = []
    let size = 0
    const stop = () => request.off("data", onData).off("end", onEnd).off("close", onBroken).off(BROKEN, onBroken)
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= most) return chunks.push(chunk)
      stop()
      chunks = []
      // Without a listener the rest would wait in the socket: the client would never get to read its answer.
      request.resume()
      return resume(tooLarge)
    }
    // What comes after the first word is not heard, so nobody need take the listeners away from a request that is over.
    const onEnd = () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const onBroken = () => resume(broken)
    // A request that fails without a listener for errors says "close" alone.
    request.on("data", onData).on("end", onEnd).on("close", onBroken).on(BROKEN, onBroken)
    onAsked?.()
    return Effect.sync(stop)
  })

/** What a request says of itself, whoever parsed it. */
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

/** A request of `node:http` as the pipeline takes it. `onAsked` runs when its body is asked for. */
export const httpRequestOf = (
  request: IncomingMessage,
  trustProxy: boolean,
  onAsked?: () => void,
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
    body(request, onAsked),
    onAdmitted
  )
