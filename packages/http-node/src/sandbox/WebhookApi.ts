import {
  Audit,
  DeliveryHistory,
  Event,
  EventId,
  type EventRecord,
  InvalidInput,
  type OwnerPage,
  parseWebhookAddress,
  ReplayInput,
  type ShopId,
  Shops,
  TicketId,
  type WebhookAddressPolicy,
  WebhookOffReason,
  Webhooks
} from "@workshop/core"
import { DateOrDateTimeText, overlapEndOf, toIso, toIsoOrNull } from "@workshop/core/internal"
import { EmptyBody, type GroupHandlers } from "@workshop/core/internal/http"
import { type AttemptRecord, DeliveryLog, type LoggedDelivery, ServiceLimits } from "@workshop/core/store"
import { Clock, Effect, Either, Schema } from "effect"
import { dataOnly, groupOf, shopEndpoint } from "./endpoints.js"
import { countParameter, optionalParameter } from "./queryParameters.js"
import { type Receivers, SentRequest } from "./Receivers.js"
import { eventView, numberLabelOf, viewOf } from "./views.js"

const WebhookView = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  on: Schema.Boolean,
  off_reason: Schema.NullOr(WebhookOffReason),
  failures_in_row: Schema.Int,
  first_failure_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Webhook" })

const SetWebhook = Schema.Struct({
  url: Schema.String,
  secret: Schema.String,
  on: Schema.Boolean,
  off_reason: Schema.NullOr(WebhookOffReason)
})

const ShownWebhook = Schema.Struct({
  ...WebhookView.fields,
  parked: Schema.Int.annotations({ description: "How many events wait until the webhook is on again" }),
  off_since: Schema.NullOr(Schema.String),
  previous_secret_until: Schema.NullOr(Schema.String).annotations({
    description: "The time until which the previous secret signs as well, or null if only one secret signs"
  })
}).annotations({ identifier: "ShownWebhook" })

const replaces_before = Schema.NullOr(Schema.String).annotations({
  description:
    "Only the two latest secrets sign, so a second rotation within 24 hours ends the oldest secret early. This is the time until which that secret would have signed, or null if no secret was ended early"
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

const ShownDelivery = Schema.Struct({
  ...DeliveryView.fields,
  ticket_id: Schema.NullOr(Schema.String),
  number_label: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  parked: Schema.Boolean.annotations({ description: "Whether the delivery waits until the webhook is on again" }),
  request: Schema.Struct({
    body: Schema.String,
    sent: Schema.NullOr(SentRequest).annotations({
      description: "The last request in the form in which it was sent, or null if this process sent no request"
    })
  })
}).annotations({ identifier: "ShownDelivery" })

const DeliveriesQuery = Schema.Struct({
  ticket: optionalParameter(TicketId, "Return only deliveries of this ticket"),
  since: optionalParameter(
    DateOrDateTimeText,
    "Return only deliveries of events that were raised at this instant or later"
  ),
  before: optionalParameter(EventId, "Return only deliveries of events before the event with this id"),
  limit: countParameter(
    ServiceLimits.list_max,
    `Return only the latest entries, at most this many; ${ServiceLimits.list_max} by default`
  )
})

const NoticeView = Schema.Struct({
  kind: Schema.Literal("webhook_failing", "webhook_off"),
  created_at: Schema.String,
  url: Schema.String,
  off_reason: Schema.NullOr(WebhookOffReason),
  failures_in_row: Schema.Int,
  first_failure_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Notice" })

/**
 * The endpoints of a shop's webhook and its deliveries, which its owner manages in the app (Specification, Sandbox).
 */
export class WebhookApi extends groupOf(
  "webhook",
  ["Webhook", "An owner manages the webhook and reads its deliveries"],
  shopEndpoint("PUT", "setWebhook", "/webhook", SetWebhook, [
    "Set the webhook's address",
    "The first address creates a secret, and a later address keeps it. In the sandbox, loopback addresses and http are allowed."
  ]).setPayload(Schema.Struct({ url: Schema.String }).annotations({ identifier: "WebhookInput" })),
  shopEndpoint("GET", "readWebhook", "/webhook", ShownWebhook, [
    "Read the webhook",
    "Returns the webhook's address, whether it is on, and its number of failures since the last success."
  ]),
  shopEndpoint(
    "POST",
    "rotateWebhookSecret",
    "/webhook/rotate",
    Schema.Struct({ secret: Schema.String, replaces_before }),
    ["Change the secret", "Deliveries are signed with the new and the old secret for 24 hours."]
  ).setPayload(EmptyBody),
  shopEndpoint("POST", "pingWebhook", "/webhook/ping", Event, [
    "Send a ping",
    "Raises an event ping and returns it. It is delivered like any other event."
  ]).setPayload(EmptyBody),
  shopEndpoint("POST", "enableWebhook", "/webhook/enable", WebhookView, [
    "Turn the webhook on",
    "Sends the deliveries that waited while the webhook was off."
  ]).setPayload(EmptyBody),
  shopEndpoint("POST", "disableWebhook", "/webhook/disable", WebhookView, [
    "Turn the webhook off",
    "Events then wait until the webhook is on again."
  ]).setPayload(EmptyBody),
  shopEndpoint("DELETE", "removeWebhook", "/webhook", WebhookView, [
    "Remove the webhook",
    "Removes the webhook with its secrets and all waiting deliveries."
  ]),
  shopEndpoint("GET", "listDeliveries", "/deliveries", Schema.Array(ShownDelivery), [
    "List the deliveries",
    "Returns the latest deliveries in the order of their events, with the result of each attempt. For earlier ones, pass `before`."
  ]).setUrlParams(DeliveriesQuery),
  shopEndpoint("POST", "replayDeliveries", "/deliveries/replay", Schema.Struct({ count: Schema.Int }), [
    "Send events again",
    "Choose the events by their ids, or by a period and a state. The events keep their ids. `dry_run` counts the events without sending them."
  ]).setPayload(ReplayInput),
  shopEndpoint("GET", "listNotices", "/notices", Schema.Array(NoticeView), [
    "List the notices to the shop's owner about the webhook",
    "Oldest first."
  ]),
  shopEndpoint("GET", "listEvents", "/events", Schema.Array(Event), [
    "List the events",
    "Returns the shop's latest events in the form in which they are sent, oldest first."
  ])
) {}

const attemptFields = viewOf(AttemptView)
const deliveryFields = viewOf(DeliveryView)

/** An attempt in a response. */
export const attemptView = ({ timings: { total_ms, ...timings }, ...attempt }: AttemptRecord) =>
  attemptFields({ ...attempt, duration_ms: total_ms, timings })

/**
 * The fields of a delivery that the owner sees, with the log of all its attempts (Specification, Webhooks; Sandbox).
 */
export const deliveryView = (delivery: LoggedDelivery) =>
  deliveryFields({ ...delivery, attempts: delivery.attempts.map(attemptView) })

/** The fields of a notice that the owner sees. */
export const noticeView = viewOf(NoticeView)

const parseAddress = (url: string, policy: WebhookAddressPolicy) =>
  Either.mapLeft(
    parseWebhookAddress(url, policy),
    (message) => new InvalidInput({ issues: [{ field: "url", message }] })
  )

/** The limit for lists, which the sandbox returns whole. */
const ALL = { limit: ServiceLimits.list_max }

/** A delivery with its event's content, and with the last sent request. */
const shownDelivery = (
  delivery: LoggedDelivery,
  event: EventRecord,
  receivers: Receivers
): typeof ShownDelivery.Type => ({
  ...deliveryView(delivery),
  ticket_id: event.ticket_id,
  number_label: numberLabelOf(event),
  created_at: toIso(event.created_at),
  parked: delivery.state === "parked",
  request: { body: event.body, sent: receivers.sent(event.id) ?? null }
})

/** Selects the deliveries that match a query. */
const selectedDeliveries = (
  deliveries: ReadonlyArray<LoggedDelivery>,
  events: ReadonlyArray<EventRecord>,
  { ticket, since, limit = deliveries.length }: typeof DeliveriesQuery.Type
) => {
  const byId = new Map(events.map((event) => [event.id, event]))
  const selectedEntries = deliveries.flatMap((delivery) => {
    const event = byId.get(delivery.event_id)
    return event !== undefined &&
      (ticket === undefined || event.ticket_id === ticket) &&
      (since === undefined || event.created_at >= since)
      ? [{ delivery, event }]
      : []
  })
  return selectedEntries.slice(Math.max(0, selectedEntries.length - limit))
}

/** Handles the endpoints of the webhook and its deliveries. */
export const webhookHandlers = (policy: WebhookAddressPolicy, receivers: Receivers) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const history = yield* DeliveryHistory
    const log = yield* DeliveryLog
    const audit = yield* Audit
    const shops = yield* Shops

    /**
     * The time at which the webhook was turned off: from the owner's notice if the service turned it off, otherwise
     * from the audit log.
     */
    const readOffSince = Effect.fnUntraced(function* (id: ShopId, off_reason: WebhookOffReason) {
      if (off_reason !== "disabled")
        return (yield* log.notices(id)).findLast(({ kind }) => kind === "webhook_off")?.created_at ?? null
      const auditEntries = yield* audit.list(id, null, ServiceLimits.list_default)
      return auditEntries.find(({ act }) => act === "webhook.disabled")?.created_at ?? null
    })

    /** The shop's events before `end`, oldest first, from the event that matches; all of them if none matches. */
    const readEventsFrom = Effect.fnUntraced(function* (
      id: ShopId,
      end: OwnerPage,
      isFirst: (event: EventRecord) => boolean
    ) {
      const events: Array<EventRecord> = []
      for (let page = end; ; ) {
        const earlierEvents = yield* webhooks.events(id, { ...page, ...ALL })
        events.unshift(...earlierEvents)
        if (earlierEvents.length < ALL.limit || earlierEvents.some(isFirst)) return events
        page = { before: earlierEvents[0]!.seq }
      }
    })

    /** Reads the latest deliveries of the events before `before`, at most `ALL`, and these events. */
    const readDeliveries = Effect.fnUntraced(function* (id: ShopId, before: EventId | undefined) {
      let end: OwnerPage = {}
      if (before !== undefined) {
        const isNamed = (event: EventRecord) => event.id === before
        const namedEvent = (yield* readEventsFrom(id, {}, isNamed)).find(isNamed)
        if (namedEvent === undefined) return { deliveries: [], events: [] }
        end = { before: namedEvent.seq }
      }
      const deliveries = yield* history.list(id, { ...end, ...ALL })
      const [first] = deliveries
      if (first === undefined) return { deliveries, events: [] }
      return { deliveries, events: yield* readEventsFrom(id, end, ({ seq }) => seq === first.seq) }
    })

    const handlers: GroupHandlers<typeof WebhookApi, void> = {
      setWebhook: ({ path, payload }) =>
        Effect.flatMap(parseAddress(payload.url, policy), (url) => Effect.map(webhooks.set(path.id, url), dataOnly)),
      readWebhook: Effect.fnUntraced(function* ({ path }) {
        const status = yield* webhooks.status(path.id)
        const parked = status.on ? 0 : yield* log.count(path.id, { state: "parked" })
        const off_since = status.off_reason === null ? null : yield* readOffSince(path.id, status.off_reason)
        const { webhook } = yield* shops.byId(path.id)
        const until = webhook === null ? null : overlapEndOf(webhook, yield* Clock.currentTimeMillis)
        return dataOnly({
          ...status,
          parked,
          off_since: toIsoOrNull(off_since),
          previous_secret_until: toIsoOrNull(until)
        })
      }),
      rotateWebhookSecret: ({ path }) => Effect.map(webhooks.rotate(path.id), dataOnly),
      pingWebhook: ({ path }) => Effect.map(webhooks.ping(path.id), (event) => dataOnly(eventView(event))),
      enableWebhook: ({ path }) => Effect.map(webhooks.enable(path.id), dataOnly),
      disableWebhook: ({ path }) => Effect.map(webhooks.disable(path.id), dataOnly),
      removeWebhook: ({ path }) => Effect.map(webhooks.remove(path.id), dataOnly),
      listDeliveries: Effect.fnUntraced(function* ({ path, urlParams }) {
        const { deliveries, events } = yield* readDeliveries(path.id, urlParams.before)
        const askedDeliveries = selectedDeliveries(deliveries, events, urlParams)
        return dataOnly(askedDeliveries.map(({ delivery, event }) => shownDelivery(delivery, event, receivers)))
      }),
      replayDeliveries: ({ path, payload }) => Effect.map(history.replay(path.id, payload), dataOnly),
      listNotices: ({ path }) => Effect.map(history.notices(path.id), (notices) => dataOnly(notices.map(noticeView))),
      listEvents: ({ path }) => Effect.map(webhooks.events(path.id, ALL), (events) => dataOnly(events.map(eventView)))
    }
    return handlers
  })
