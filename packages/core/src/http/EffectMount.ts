import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Deferred, Effect, Option, Stream } from "effect"
import { type Arrival, BodyBroken, BodyTooLarge } from "./Arrival.js"
import { joined } from "./joined.js"
import { type MountEffectOptions, mountedEffect } from "./Mount.js"

/** How much of a body that is too large is read and dropped: who hangs up on a sender leaves them without the answer. */
const DROPPED_BYTES = 16 * 1024 * 1024

const readAll = (request: HttpServerRequest.HttpServerRequest, most: number) =>
  Effect.gen(function* () {
    const read = yield* Deferred.make<Uint8Array, BodyBroken | BodyTooLarge>()
    const chunks: Array<Uint8Array> = []
    let length = 0
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      if (length <= most) chunks.push(chunk)
      return length <= most ? Effect.void : Deferred.fail(read, new BodyTooLarge())
    }
    // On its own, as it goes on after it is known that there is too much.
    yield* Effect.forkDaemon(
      request.stream.pipe(
        Stream.tap(take),
        Stream.takeUntil(() => length > DROPPED_BYTES),
        Stream.runDrain,
        Effect.matchEffect({
          onFailure: () => Deferred.fail(read, new BodyBroken()),
          onSuccess: () => Effect.suspend(() => Deferred.succeed(read, joined(chunks)))
        })
      )
    )
    return yield* Deferred.await(read)
  })

const arrivalOf = (request: HttpServerRequest.HttpServerRequest, address: string): Arrival => {
  // Below a router's mount `url` has lost the mount's path already.
  const question = request.url.indexOf("?")
  return {
    method: request.method,
    path: question < 0 ? request.url : request.url.slice(0, question),
    query: question < 0 ? "" : request.url.slice(question + 1),
    header: (name) => request.headers[name],
    address,
    body: (most) =>
      Number(request.headers["content-length"] ?? 0) > most ? Effect.fail(new BodyTooLarge()) : readAll(request, most)
  }
}

/**
 * The API as an `HttpApp` of `@effect/platform`, to be mounted beside your own routes: with `HttpRouter.mountApp`,
 * which takes its path off, or under the `prefix` of the options where the path stays on.
 */
export const httpApp = <R = never>(options: MountEffectOptions<HttpServerRequest.HttpServerRequest, R> = {}) =>
  Effect.map(
    mountedEffect(options),
    ({ answer }): HttpApp.Default =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const address = Option.getOrElse(request.remoteAddress, () => "unknown")
        const { status, headers, body } = yield* answer(request, arrivalOf(request, address))
        // The media type is the body's own to say: among the headers it would be a second one.
        const { "Content-Type": contentType = "application/json", ...rest } = headers
        return HttpServerResponse.text(body, { status, headers: rest, contentType })
      })
  )
