import {
  DeliveryHistory,
  type Event,
  type EventRecord,
  InvalidInput,
  parseWebhookAddress,
  ServiceLimits,
  type WebhookAddressPolicy,
  Webhooks
} from "@workshop/core"
import type { Handlers } from "@workshop/core/http"
import { Effect, Either } from "effect"
import type { SandboxApi } from "./SandboxApi.js"
import { deliveryView, noticeView } from "./webhookViews.js"

const asSent = ({ body }: EventRecord) => JSON.parse(body) as Event

const address = (url: string, policy: WebhookAddressPolicy) =>
  Either.mapLeft(
    parseWebhookAddress(url, policy),
    (message) => new InvalidInput({ issues: [{ field: "url", message }] })
  )

/** The sandbox has no pages. */
const ALL = { limit: ServiceLimits.list_max }

const data = <A>(data: A) => ({ data })

/** What a shop's owner does with the webhook, and sees of its deliveries. */
export const webhookHandlers = (policy: WebhookAddressPolicy) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const outbox = yield* DeliveryHistory
    const handlers: Handlers<typeof SandboxApi, void>["webhook"] = {
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
