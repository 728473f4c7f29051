import { Effect } from "effect"
import { Limits } from "../domain/Limits.js"
import {
  BodyIncomplete,
  BodyTooLarge,
  concatBytes,
  type Follow,
  type HttpRequest,
  type HttpResponse
} from "./HttpMessage.js"

type Reader = ReadableStreamDefaultReader<Uint8Array>

const readRest = async (reader: Reader): Promise<void> => {
  let left = Limits.unwanted_body_bytes
  while (left >= 0) {
    const { done, value } = await reader.read()
    if (done) return
    left -= value.length
  }
  await reader.cancel()
}

/**
 * Discards the rest of a body while the response is sent, up to `Limits.unwanted_body_bytes`, because a client that is stopped at once may
 * lose its response. It does not matter if the client leaves meanwhile.
 */
const discardRest = (reader: Reader): void => void readRest(reader).catch(() => undefined)

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
      discardRest(reader)
      return undefined
    }
    chunks.push(value)
  }
}

/** The pipeline's request, made from a web-standard one. */
export const fetchRequest = (request: Request, address: string): HttpRequest => {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    // `Headers` joins repeated headers with a comma. Only bearer tokens show it, because no token contains a comma.
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
const streamOf = (body: HttpResponse["body"], follow: Follow): ReadableStream<Uint8Array> => {
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

/** The web-standard response, made from the pipeline's. It throws if the connection is to be cut. */
export const fetchResponse = (request: Request, { status, headers, body, isCut, follow }: HttpResponse): Response => {
  if (isCut === true) throw Object.assign(new TypeError("The connection was cut"), { code: "ECONNRESET" })
  // A body that middleware of the server has begun to read is left to it.
  if (request.body !== null && !request.bodyUsed && !request.body.locked) discardRest(request.body.getReader())
  if (follow !== undefined && request.method !== "HEAD")
    return new Response(streamOf(body, follow), { status, headers })
  return new Response(request.method === "HEAD" ? null : body, { status, headers })
}
