import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Option, Stream } from "effect"
import { type Arrival, BodyBroken, BodyTooLarge } from "./Arrival.js"
import { type MountEffectOptions, mountedEffect } from "./Mount.js"

const readAll = (request: HttpServerRequest.HttpServerRequest, most: number) =>
  request.stream.pipe(
    Stream.mapError(() => new BodyBroken()),
    Stream.runFoldEffect(new Uint8Array(), (whole, chunk) =>
      whole.length + chunk.length > most
        ? Effect.fail(new BodyTooLarge())
        : Effect.succeed(new Uint8Array([...whole, ...chunk]))
    )
  )

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
