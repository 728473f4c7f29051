import { Effect, Runtime } from "effect"
import { Limits } from "../domain/Limits.js"
import {
  BodyIncomplete,
  BodyTooLarge,
  concatBytes,
  type Follow,
  type HttpRequest,
  type HttpResponse
} from "./HttpMessage.js"
import type { Pipeline } from "./Pipeline.js"

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads what nobody wants, within its bound, and then lets it go: a sender that is stopped at once may lose its answer. */
const drop = async (reader: Reader): Promise<void> => {
  let left = Limits.unwanted_body_bytes
  while (left >= 0) {
    const { done, value } = await reader.read()
    if (done) return
    left -= value.length
  }
  await reader.cancel()
}

/** Reads a stream; undefined as soon as it grows past `most` bytes. */
const readAll = async (stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | undefined> => {
  const reader = stream.getReader()
  const chunks: Array<Uint8Array> = []
  let size = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) return concatBytes(chunks)
    size += value.length
    if (size > most) {
      dropped(reader)
      return undefined
    }
    chunks.push(value)
  }
}

/** Beside the answer, which must not wait for it. A sender that leaves meanwhile is of no concern. */
const dropped = (reader: Reader): void => void drop(reader).catch(() => undefined)

/** A web-standard request as the pipeline takes it. */
export const httpRequestOf = (request: Request, address: string): HttpRequest => {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    // `Headers` joins repeated ones with a comma; only of a bearer token it can be told, as a token holds none.
    repeats: (name) => name === "authorization" && /, *bearer /i.test(request.headers.get(name) ?? ""),
    address,
    body: (most) => {
      const { body } = request
      if (body === null) return Effect.succeed(new Uint8Array())
      return Effect.filterOrFail(
        Effect.tryPromise({ try: () => readAll(body, most), catch: () => new BodyIncomplete() }),
        (bytes) => bytes !== undefined,
        () => new BodyTooLarge()
      )
    }
  }
}

/** A body that goes on until its reader leaves. */
const followed = (body: HttpResponse["body"], follow: Follow): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let stop = (): void => undefined
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(typeof body === "string" ? encoder.encode(body) : body)
      stop = follow((text) => controller.enqueue(encoder.encode(text)))
    },
    cancel: () => stop()
  })
}

/** An answer of the pipeline to a web-standard request, of which no more is read than there must be. */
export const responseOf = (request: Request, { status, headers, body, isCut, follow }: HttpResponse): Response => {
  if (isCut === true) throw new TypeError("The connection was cut")
  // What somebody else reads, such as the server's own middleware, is theirs to read to its end.
  if (request.body !== null && !request.bodyUsed && !request.body.locked) dropped(request.body.getReader())
  if (follow !== undefined && request.method !== "HEAD")
    return new Response(followed(body, follow), { status, headers })
  return new Response(request.method === "HEAD" ? null : body, { status, headers })
}

/**
 * The service as a web-standard `fetch(Request) → Response`, for workers, edge runtimes and frameworks.
 * `addressOf` tells whence a request came, for the limit on requests without a good key; without it all come from one place.
 */
export const webHandler =
  (pipeline: Pipeline, runtime: Runtime.Runtime<never>, addressOf: (request: Request) => string = () => "unknown") =>
  async (request: Request): Promise<Response> =>
    responseOf(request, await Runtime.runPromise(runtime)(pipeline(httpRequestOf(request, addressOf(request)))))
