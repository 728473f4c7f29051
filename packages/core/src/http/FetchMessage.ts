import { Effect } from "effect"
import { Limits } from "../domain/Limits.js"
import {
  BodyIncomplete,
  BodyTooLarge,
  concatBytes,
  type HttpRequest,
  type HttpResponse,
  type StreamBody
} from "./HttpMessage.js"

type Reader = ReadableStreamDefaultReader<Uint8Array>

const readRest = async (reader: Reader): Promise<void> => {
  let remainingBytes = Limits.unwanted_body_bytes
  while (remainingBytes >= 0) {
    const { done, value } = await reader.read()
    if (done) return
    remainingBytes -= value.length
  }
  await reader.cancel()
}

/**
 * Discards the rest of a body while the response is sent, up to `Limits.unwanted_body_bytes`, because a client whose
 * upload is cut at once may lose the response. It ignores errors, because the client may disconnect meanwhile.
 */
const discardRest = (reader: Reader): void => void readRest(reader).catch(() => undefined)

/** Reads a stream; undefined as soon as it has more than `max_bytes` bytes. */
const readAll = async (stream: ReadableStream<Uint8Array>, max_bytes: number): Promise<Uint8Array | undefined> => {
  const reader = stream.getReader()
  const chunks: Array<Uint8Array> = []
  let size = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) return concatBytes(chunks)
    size += value.length
    if (size > max_bytes) {
      discardRest(reader)
      return undefined
    }
    chunks.push(value)
  }
}

/** Makes the pipeline's request from a web-standard one. */
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
    body: (max_bytes) => {
      const { body } = request
      if (body === null) return Effect.succeed(new Uint8Array())
      return Effect.filterOrFail(
        Effect.tryPromise({ try: () => readAll(body, max_bytes), catch: () => new BodyIncomplete() }),
        (bytes) => bytes !== undefined,
        () => new BodyTooLarge()
      )
    }
  }
}

/** A body that, after its text, sends the texts of `follow` until its reader cancels it. */
const streamOf = (body: HttpResponse["body"], follow: StreamBody): ReadableStream<Uint8Array> => {
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

/**
 * Makes a web-standard response from the pipeline's. It throws if the connection is to be closed without a response.
 */
export const fetchResponse = (
  request: Request,
  { status, headers, body, closesConnection, follow }: HttpResponse
): Response => {
  if (closesConnection === true) throw Object.assign(new TypeError("The connection was cut"), { code: "ECONNRESET" })
  // If middleware of the server has begun to read the body, it also reads the rest.
  if (request.body !== null && !request.bodyUsed && !request.body.locked) discardRest(request.body.getReader())
  if (follow !== undefined && request.method !== "HEAD")
    return new Response(streamOf(body, follow), { status, headers })
  return new Response(request.method === "HEAD" ? null : body, { status, headers })
}
