import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import {
  type AttemptRecord,
  DeliveryHistory,
  Event,
  type EventRecord,
  InvalidInput,
  type NoticeRecord,
  parseWebhookAddress,
  ReplayInput,
  ServiceLimits,
  toIso,
  toIsoOrNull,
  type WebhookAddressPolicy,
  WebhookOffReason,
  Webhooks
} from "@workshop/core"
import { FailureBodyOf, type GroupHandlers, Nothing, SuccessBody } from "@workshop/core/http"
import type { LoggedDelivery } from "@workshop/core/store"
import { Effect, Either, Schema } from "effect"
import { data, described, titled } from "./described.js"
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
      .annotateContext(
        described(
          "setWebhook",
          "Set the webhook's address",
          "The first address makes a secret; another address keeps it. Loopback addresses and http are allowed here."
        )
      )
  )
  .add(
    HttpApiEndpoint.get("read", "/shops/:id/webhook")
      .setPath(OfShop)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described("readWebhook", "Read the webhook", "Its address, whether it is on, and how it has been failing.")
      )
  )
  .add(
    HttpApiEndpoint.post("rotate", "/shops/:id/webhook/rotate")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(Schema.Struct({ secret: Schema.String, replaces_before })))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described(
          "rotateWebhookSecret",
          "Change the secret",
          "Deliveries are signed with the new and the old secret for 24 hours."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("ping", "/shops/:id/webhook/ping")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(Event))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(described("pingWebhook", "Send a ping", "Answers the event, which is delivered like any other."))
  )
  .add(
    HttpApiEndpoint.post("enable", "/shops/:id/webhook/enable")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described("enableWebhook", "Turn the webhook on", "Releases the deliveries that waited while it was off.")
      )
  )
  .add(
    HttpApiEndpoint.post("disable", "/shops/:id/webhook/disable")
      .setPath(OfShop)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(described("disableWebhook", "Turn the webhook off", "Events wait until it is on again."))
  )
  .add(
    HttpApiEndpoint.del("remove", "/shops/:id/webhook")
      .setPath(OfShop)
      .addSuccess(SuccessBody(WebhookView))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described("removeWebhook", "Remove the webhook", "Its secrets and all deliveries that wait go with it.")
      )
  )
  .add(
    HttpApiEndpoint.get("deliveries", "/shops/:id/deliveries")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(DeliveryView)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described(
          "listDeliveries",
          "List the deliveries",
          "Every event that was to be sent, with what came of each attempt."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("replay", "/shops/:id/deliveries/replay")
      .setPath(OfShop)
      .setPayload(ReplayInput)
      .addSuccess(SuccessBody(Schema.Struct({ count: Schema.Int })))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described(
          "replayDeliveries",
          "Send events again",
          "Name the events, or give bounds and a state. The events go out under the ids that they had. `dry_run` only counts them."
        )
      )
  )
  .add(
    HttpApiEndpoint.get("notices", "/shops/:id/notices")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(NoticeView)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(described("listNotices", "List what the owner was told", "Oldest first."))
  )
  .add(
    HttpApiEndpoint.get("events", "/shops/:id/events")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(Event)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(described("listEvents", "List the events", "As they were sent, oldest first."))
  )
  .annotateContext(titled("Webhook", "What a shop's owner does with the webhook, and what it was sent")) {}

/** An attempt as it is answered. */
export const attemptView = ({ n, started_at, status, error, detail, address, timings, head }: AttemptRecord) => {
  const { total_ms, ...stages } = timings
  return {
    n,
    started_at: toIso(started_at),
    duration_ms: total_ms,
    status,
    error,
    detail,
    address,
    timings: stages,
    head
  }
}

/** A delivery as its owner reads it, with the whole log of its attempts (Specification, Webhooks; Sandbox). */
export const deliveryView = ({ event_id, type, state, next_attempt_at, attempts }: LoggedDelivery) => ({
  event_id,
  type,
  state,
  next_attempt_at: toIsoOrNull(next_attempt_at),
  attempts: attempts.map(attemptView)
})

/** What the owner was told, as they read it. */
export const noticeView = ({ kind, created_at, url, off_reason, failures_in_row, first_failure_at }: NoticeRecord) => ({
  kind,
  created_at: toIso(created_at),
  url,
  off_reason,
  failures_in_row,
  first_failure_at: toIsoOrNull(first_failure_at)
})

const asSent = ({ body }: EventRecord) => JSON.parse(body) as Event

const address = (url: string, policy: WebhookAddressPolicy) =>
  Either.mapLeft(
    parseWebhookAddress(url, policy),
    (message) => new InvalidInput({ issues: [{ field: "url", message }] })
  )

/** The sandbox has no pages. */
const ALL = { limit: ServiceLimits.list_max }

/** What a shop's owner does with the webhook, and sees of its deliveries. */
export const webhookHandlers = (policy: WebhookAddressPolicy) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const outbox = yield* DeliveryHistory
    const handlers: GroupHandlers<typeof WebhookApi, void> = {
      set: ({ path, payload }) =>
        Effect.flatMap(address(payload.url, policy), (url) => Effect.map(webhooks.set(path.id, url), data)),
      read: ({ path }) => Effect.map(webhooks.status(path.id), data),
      rotate: ({ path }) => Effect.map(webhooks.rotate(path.id), data),
      ping: ({ path }) => Effect.map(webhooks.ping(path.id), (event) => data(asSent(event))),
      enable: ({ path }) => Effect.map(webhooks.enable(path.id), data),
      disable: ({ path }) => Effect.map(webhooks.disable(path.id), data),
      remove: ({ path }) => Effect.map(webhooks.remove(path.id), data),
      deliveries: ({ path }) => Effect.map(outbox.deliveries(path.id, ALL), (found) => data(found.map(deliveryView))),
      replay: ({ path, payload }) => Effect.map(outbox.replay(path.id, payload), data),
      notices: ({ path }) => Effect.map(outbox.notices(path.id), (found) => data(found.map(noticeView))),
      events: ({ path }) => Effect.map(webhooks.events(path.id, ALL), (events) => data(events.map(asSent)))
    }
    return handlers
  })
