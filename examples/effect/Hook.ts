import { HttpApiEndpoint, HttpApiGroup, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Event, receive } from "@workshop/webhooks"
import { Clock, Effect, Option } from "effect"

/** The receiver of webhooks, as a group of an `HttpApi`. It has no payload schema, because the raw body is signed. */
export class Hooks extends HttpApiGroup.make("hooks").add(HttpApiEndpoint.post("workshop", "/hook")) {}

/**
 * The receiver's handler, for `handlers.handleRaw("workshop", …)`. `apply` may get an event twice. To work after the
 * response, it can fork.
 */
export const received =
  <R>(secret: string, apply: (event: Event) => Effect.Effect<void, never, R>) =>
  ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) =>
    Effect.gen(function* () {
      const body = yield* Effect.orElseSucceed(request.text, () => "")
      const now = yield* Clock.currentTimeMillis
      const result = yield* Effect.promise(() => receive(body, request.headers["service-signature"], secret, { now }))
      const from = Option.getOrElse(request.remoteAddress, () => "an unknown address")
      if (!result.ok) yield* Effect.logWarning(`Refused a delivery from ${from}: ${result.reason}`)
      else yield* apply(result.event)
      return HttpServerResponse.empty({ status: result.ok ? 200 : 400 })
    })
