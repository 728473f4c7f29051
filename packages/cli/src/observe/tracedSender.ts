import { WebhookSender } from "@workshop/core"
import { Tracing } from "@workshop/core/store"
import { Effect, Layer } from "effect"

/**
 * The sender with a span for each attempt, if there is a tracer. The span names the shop and the outcome, but not the
 * address.
 */
export const tracedSender: Layer.Layer<WebhookSender, never, WebhookSender> = Layer.effect(
  WebhookSender,
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const sender = yield* WebhookSender
    return WebhookSender.of({
      send: (post) =>
        within(
          "webhook attempt",
          { shop_id: post.shop_id },
          Effect.tap(sender.send(post), ({ status, error }) =>
            Effect.annotateCurrentSpan({ ...(status === null ? {} : { status }), ...(error === null ? {} : { error }) })
          )
        )
    })
  })
)
