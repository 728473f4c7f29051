import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Event, ReplayInput, WebhookOffReason } from "@workshop/core"
import { FailureBodyOf, Nothing, SuccessBody } from "@workshop/core/http"
import { Schema } from "effect"
import { OfShop } from "./ShopsApi.js"

const WebhookView = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  on: Schema.Boolean,
  off_reason: Schema.NullOr(WebhookOffReason),
  failures_in_row: Schema.Int,
  first_failure_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Webhook" })

const replaces_before = Schema.NullOr(Schema.String).annotations({
  description:
    "The last two secrets sign, so a second rotation within 24 hours ends the oldest at once: until when that one would still have signed. Null where no secret was ended early"
})

const milliseconds = Schema.NullOr(Schema.Number)

const AttemptView = Schema.Struct({
  n: Schema.Int,
  started_at: Schema.String,
  duration_ms: Schema.Number,
  status: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  detail: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  timings: Schema.Struct({
    lookup_ms: milliseconds,
    connect_ms: milliseconds,
    tls_ms: milliseconds,
    first_byte_ms: milliseconds
  }),
  head: Schema.String
}).annotations({ identifier: "Attempt" })

const DeliveryView = Schema.Struct({
  event_id: Schema.String,
  type: Schema.String,
  state: Schema.Literal("pending", "delivered", "parked", "dead"),
  next_attempt_at: Schema.NullOr(Schema.String),
  attempts: Schema.Array(AttemptView)
}).annotations({ identifier: "Delivery" })

const NoticeView = Schema.Struct({
  kind: Schema.Literal("webhook_failing", "webhook_off"),
  created_at: Schema.String,
  url: Schema.String,
  off_reason: Schema.NullOr(WebhookOffReason),
  failures_in_row: Schema.Int,
  first_failure_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Notice" })

/** A shop's webhook, and the events that it is sent: what the owner does in the app (Specification, Sandbox). */
export class WebhookApi extends HttpApiGroup.make("webhook")
  .add(
    HttpApiEndpoint.put("set", "/shops/:id/webhook")
      .setPath(OfShop)
      .setPayload(Schema.Struct({ url: Schema.String }).annotations({ identifier: "WebhookInput" }))
      .addSuccess(
        SuccessBody(
          Schema.Struct({
            url: Schema.String,
            secret: Schema.String,
            on: Schema.Boolean,
            off_reason: Schema.NullOr(WebhookOffReason)
          })
        )
      )
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("read", "/shops/:id/webhook")
      .setPath(OfShop)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("rotate", "/shops/:id/webhook/rotate")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(Schema.Struct({ secret: Schema.String, replaces_before })))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("ping", "/shops/:id/webhook/ping")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(Event))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("enable", "/shops/:id/webhook/enable")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("disable", "/shops/:id/webhook/disable")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.del("remove", "/shops/:id/webhook")
      .setPath(OfShop)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("deliveries", "/shops/:id/deliveries")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(DeliveryView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("replay", "/shops/:id/deliveries/replay")
      .setPath(OfShop)
      .setPayload(ReplayInput)
      .addSuccess(SuccessBody(Schema.Struct({ count: Schema.Int })))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("notices", "/shops/:id/notices")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(NoticeView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("events", "/shops/:id/events")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(Event)))
      .addError(FailureBodyOf("NOT_FOUND"))
  ) {}
