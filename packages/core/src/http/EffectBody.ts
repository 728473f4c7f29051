import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as HttpServerError from "@effect/platform/HttpServerError"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Clock, Deferred, Effect, Option, Stream } from "effect"
import { Limits } from "../domain/Limits.js"
import { makeTooLargeIssue } from "./ErrorTable.js"
import { BodyIncomplete, BodyTooLarge, concatBytes } from "./HttpMessage.js"

/** The real time that a client has to read the last response on its connection. */
const lastReadPause = Effect.withClock(Effect.sleep("1 second"), Clock.make())

/**
 * Reads a body to its end, or up to `unwanted_body_bytes` beyond `max_bytes`, because ending the stream earlier closes the
 * connection.
 */
const drain = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  max_bytes: number,
  take: (chunk: Uint8Array) => Effect.Effect<unknown>
) => {
  let remainingBytes = max_bytes + Limits.unwanted_body_bytes
  return stream.pipe(
    Stream.tap((chunk) => {
      remainingBytes -= chunk.length
      return Effect.zipRight(take(chunk), remainingBytes < 0 ? lastReadPause : Effect.void)
    }),
    Stream.takeUntil(() => remainingBytes < 0),
    Stream.runDrain
  )
}

/** The length of a request's body according to its headers; undefined if they do not give it. */
export const contentLengthOf = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined

/**
 * Reads and drops an unneeded body while the response is sent, because the server itself would read it without a limit.
 */
export const discardBody = (request: HttpServerRequest.HttpServerRequest) => {
  const drainFiber = Effect.forkDaemon(Effect.either(drain(request.stream, 0, () => Effect.void)))
  // This begins before the response is sent, because Node itself would read the rest afterwards.
  return Effect.zipRight(drainFiber, Effect.yieldNow())
}

/** How much of a body was read. */
export interface BodyProgress {
  isBegun: boolean
  isWhole: boolean
}

/** Reads a body of at most `max_bytes` bytes. It drops the rest of a larger body, so that the client gets the response. */
export const readAll = (request: HttpServerRequest.HttpServerRequest, max_bytes: number, progress: BodyProgress) =>
  Effect.gen(function* () {
    const read = yield* Deferred.make<Uint8Array, BodyIncomplete | BodyTooLarge>()
    const chunks: Array<Uint8Array> = []
    let length = 0
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      if (length <= max_bytes) chunks.push(chunk)
      return length <= max_bytes ? Effect.void : Deferred.fail(read, new BodyTooLarge())
    }
    // The read has its own fiber, because it continues after the body is found to be too large.
    yield* Effect.forkDaemon(
      drain(request.stream, max_bytes, take).pipe(
        Effect.matchEffect({
          onFailure: () => Deferred.fail(read, new BodyIncomplete()),
          onSuccess: () =>
            Effect.suspend(() => {
              progress.isWhole = true
              return Deferred.succeed(read, concatBytes(chunks))
            })
        })
      )
    )
    return yield* Deferred.await(read)
  })

/** A failure to read a body, whose description says what to change. */
const bodyReadFailure = (
  request: HttpServerRequest.HttpServerRequest,
  max_bytes: number,
  cause: BodyTooLarge | BodyIncomplete
): HttpServerError.RequestError => {
  const description =
    cause._tag === "BodyTooLarge" ? makeTooLargeIssue(max_bytes).message : "ended before it was complete"
  return new HttpServerError.RequestError({ request, reason: "Transport", cause, description })
}

/**
 * Whether a request has no body. A web-standard request need not have a length, and its stream fails if there is no
 * body.
 */
const hasNoBody = ({ source, headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["content-length"] === "0" || (source as { readonly body?: unknown }).body === null

/** The description of a failure to read a body as text. */
export const NOT_UTF8 = "must be in UTF-8"

/** A request whose body is read once for all its readers, with what was read of it. */
export interface RereadableRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly progress: Readonly<BodyProgress>
}

/**
 * A request whose text, JSON and bytes are limited by `withMaxBodySize`, with a response for a larger body, because the
 * server itself would close the connection at once. The request's streams have no limit.
 */
export const makeRereadable = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<RereadableRequest> =>
  Effect.gen(function* () {
    const progress: BodyProgress = { isBegun: false, isWhole: false }
    const reading = Effect.gen(function* () {
      progress.isBegun = true
      if (hasNoBody(request)) return new Uint8Array()
      const max_bytes = Option.match(yield* HttpIncomingMessage.MaxBodySize, { onNone: () => Infinity, onSome: Number })
      return yield* Effect.mapError(readAll(request, max_bytes, progress), (cause) =>
        bodyReadFailure(request, max_bytes, cause)
      )
    })
    const bytes = yield* Effect.cached(reading)
    const text = Effect.flatMap(bytes, (read) =>
      Effect.try({
        try: () => new TextDecoder("utf-8", { fatal: true }).decode(read),
        catch: (cause) => new HttpServerError.RequestError({ request, reason: "Decode", cause, description: NOT_UTF8 })
      })
    )
    const arrayBuffer = Effect.map(bytes, ({ buffer }) => buffer)
    const readable: HttpServerRequest.HttpServerRequest = Object.create(request, {
      text: { value: text },
      arrayBuffer: { value: arrayBuffer }
    })
    return { request: readable, progress }
  })
