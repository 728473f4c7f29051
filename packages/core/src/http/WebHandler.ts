import { Effect, Runtime } from "effect"
import { type Arrival, BodyBroken, BodyTooLarge, type Departure } from "./Arrival.js"
import { joined } from "./joined.js"
import type { Pipeline } from "./Pipeline.js"

/** Reads a stream, and lets it go as soon as it grows past `most` bytes. */
const readAll = async (stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | undefined> => {
  const reader = stream.getReader()
  const chunks: Array<Uint8Array> = []
  let size = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > most) {
      await reader.cancel()
      return undefined
    }
    chunks.push(value)
  }
  return joined(chunks)
}

/** A web-standard request as the pipeline takes it. */
export const arrivalOf = (request: Request, address: string): Arrival => {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    address,
    body: (most) => {
      const { body } = request
      if (body === null) return Effect.succeed(new Uint8Array())
      return Effect.filterOrFail(
        Effect.tryPromise({ try: () => readAll(body, most), catch: () => new BodyBroken() }),
        (bytes) => bytes !== undefined,
        () => new BodyTooLarge()
      )
    }
  }
}

/** An answer of the pipeline to a web-standard request. */
export const responseOf = ({ method }: Request, { status, headers, body }: Departure): Response =>
  new Response(method === "HEAD" ? null : body, { status, headers })

/**
 * The service as a web-standard `fetch(Request) → Response`, for workers, edge runtimes and frameworks.
 * `addressOf` tells whence a request came, for the limit on requests without a good key; without it all come from one place.
 */
export const webHandler =
  (pipeline: Pipeline, runtime: Runtime.Runtime<never>, addressOf: (request: Request) => string = () => "unknown") =>
  async (request: Request): Promise<Response> =>
    responseOf(request, await Runtime.runPromise(runtime)(pipeline(arrivalOf(request, addressOf(request)))))
