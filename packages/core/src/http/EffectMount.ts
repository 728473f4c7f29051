import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Deferred, Effect, Option, Stream } from "effect"
import { Limits } from "../domain/Limits.js"
import {
  BodyIncomplete,
  BodyTooLarge,
  bodyText,
  concatBytes,
  type HttpRequest,
  isHeaderRepeated
} from "./HttpMessage.js"
import { type MountEffectOptions, mountEffect } from "./Mount.js"

/** How long a sender whose connection is about to be closed may take to read the answer, in real time. */
const untilRead = Effect.withClock(Effect.sleep("1 second"), Clock.make())

/** Reads a request's body to its end, or `unwanted_body_bytes` past `most` of it: with its stream the connection ends. */
const drain = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  most: number,
  take: (chunk: Uint8Array) => Effect.Effect<unknown>
) => {
  let left = most + Limits.unwanted_body_bytes
  return stream.pipe(
    Stream.tap((chunk) => {
      left -= chunk.length
      return Effect.zipRight(take(chunk), left < 0 ? untilRead : Effect.void)
    }),
    Stream.takeUntil(() => left < 0),
    Stream.runDrain
  )
}

/** How many bytes a request says its body has; undefined where it has one of an unknown length. */
const announced = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined

/** Reads a body that nobody asked for, beside the answer: the server would read it without a bound. */
const drop = (request: HttpServerRequest.HttpServerRequest) => {
  const dropping = Effect.forkDaemon(Effect.either(drain(request.stream, 0, () => Effect.void)))
  // It must have begun when the answer leaves: from then on node would read the rest on its own.
  return Effect.zipRight(dropping, Effect.yieldNow())
}

/** How far the reading of a body has come. */
interface Progress {
  isBegun: boolean
  isWhole: boolean
}

const readAll = (request: HttpServerRequest.HttpServerRequest, most: number, progress: Progress) =>
  Effect.gen(function* () {
    const read = yield* Deferred.make<Uint8Array, BodyIncomplete | BodyTooLarge>()
    const chunks: Array<Uint8Array> = []
    let length = 0
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      if (length <= most) chunks.push(chunk)
      return length <= most ? Effect.void : Deferred.fail(read, new BodyTooLarge())
    }
    // On its own, as it goes on after it is known that there is too much.
    yield* Effect.forkDaemon(
      drain(request.stream, most, take).pipe(
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

/** The headers as they came, where the request comes from a Node server; elsewhere none is known to repeat. */
const rawHeadersOf = ({ source }: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  (source as { readonly rawHeaders?: ReadonlyArray<string> }).rawHeaders ?? []

/** What there is of a request of Node's server: the response, whose socket it has once it is the next one on its connection. */
interface OnNode {
  readonly response?: {
    readonly socket?: unknown
    readonly once: (event: "socket", listener: () => void) => unknown
  }
}

/**
 * Waits until a request is the next one to be answered on its connection, so that a client that sends many ahead has one of them run.
 * Only Node's server says so; the request of a client that leaves is interrupted.
 */
const inTurn = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.async((resume) => {
    const { response } = request as OnNode
    if (response?.socket === null) response.once("socket", () => resume(Effect.void))
    else resume(Effect.void)
  })

const httpRequestOf = (request: HttpServerRequest.HttpServerRequest, address: string, progress: Progress) => {
  // Below a router's mount `url` has lost the mount's path already.
  const question = request.url.indexOf("?")
  return {
    method: request.method,
    path: question < 0 ? request.url : request.url.slice(0, question),
    query: question < 0 ? "" : request.url.slice(question + 1),
    header: (name) => request.headers[name],
    repeats: (name) => isHeaderRepeated(rawHeadersOf(request), name),
    address,
    body: (most) => {
      if ((announced(request) ?? 0) > most) return Effect.fail(new BodyTooLarge())
      progress.isBegun = true
      return readAll(request, most, progress)
    },
    source: request
  } satisfies HttpRequest
}

/**
 * The API as an `HttpApp` of `@effect/platform`, to be mounted beside your own routes: with `HttpRouter.mountApp`,
 * which takes its path off, or under the `prefix` of the options where the path stays on.
 */
export const httpApp = <R = never>(options: MountEffectOptions<HttpServerRequest.HttpServerRequest, R> = {}) =>
  Effect.map(
    mountEffect(options),
    ({ answer }): HttpApp.Default =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* inTurn(request)
        const address = Option.getOrElse(request.remoteAddress, () => "unknown")
        const length = announced(request)
        const progress: Progress = { isBegun: false, isWhole: length === 0 }
        const response = yield* answer(httpRequestOf(request, address, progress))
        if (!progress.isBegun && !progress.isWhole) yield* drop(request)
        // Nothing can follow a body that may not be read to its end.
        const isLast = !progress.isWhole && (length === undefined || length > Limits.unwanted_body_bytes)
        const { status, headers } = response
        // The media type is the body's own to say: among the headers it would be a second one.
        const { "Content-Type": contentType = "application/json", ...rest } = headers
        return HttpServerResponse.text(bodyText(response), {
          status,
          headers: isLast ? { ...rest, Connection: "close" } : rest,
          contentType
        })
      })
  )
