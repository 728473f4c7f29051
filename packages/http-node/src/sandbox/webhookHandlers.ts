import type { AttemptRecord } from "@workshop/core/domain/Delivery"
import type { Event, EventRecord } from "@workshop/core/domain/Event"
import { toIso, toIsoOrNull } from "@workshop/core/domain/Instant"
import { InvalidInput } from "@workshop/core/domain/InvalidInput"
import type { NoticeRecord } from "@workshop/core/domain/Notice"
import * as WebhookAddress from "@workshop/core/domain/WebhookAddress"
import type { Handlers } from "@workshop/core/http/Endpoint"
import type { LoggedDelivery } from "@workshop/core/ports/DeliveryLog"
import { Outbox } from "@workshop/core/services/Outbox"
import { Webhooks } from "@workshop/core/services/Webhooks"
import { Effect, Either } from "effect"
import type { SandboxApi } from "./SandboxApi.js"

const asSent = ({ body }: EventRecord) => JSON.parse(body) as Event

const address = (url: string, policy: WebhookAddress.Policy) =>
  Either.mapLeft(
    WebhookAddress.parse(url, policy),
    (message) => new InvalidInput({ issues: [{ field: "url", message }] })
  )

const data = <A>(data: A) => ({ data })

const attemptView = ({ n, started_at, status, error, detail, address, timings, head }: AttemptRecord) => {
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

const deliveryView = ({ event_id, type, state, next_attempt_at, attempts }: LoggedDelivery) => ({
  event_id,
  type,
  state,
  next_attempt_at: toIsoOrNull(next_attempt_at),
  attempts: attempts.map(attemptView)
})

const noticeView = ({ kind, created_at, url, off_reason, failures_in_row, first_failure_at }: NoticeRecord) => ({
  kind,
  created_at: toIso(created_at),
  url,
  off_reason,
  failures_in_row,
  first_failure_at: toIsoOrNull(first_failure_at)
})

/** What a shop's owner does with the webhook, and sees of its deliveries. */
export const webhookHandlers = (policy: WebhookAddress.Policy) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const outbox = yield* Outbox
    const handlers: Handlers<typeof SandboxApi, void>["webhook"] = {
      set: ({ path, payload }) =>
        Effect.flatMap(address(payload.url, policy), (url) => Effect.map(webhooks.set(path.id, url), data)),
      read: ({ path }) => Effect.map(webhooks.status(path.id), data),
      rotate: ({ path }) => Effect.map(webhooks.rotate(path.id), data),
      ping: ({ path }) => Effect.map(webhooks.ping(path.id), (event) => data(asSent(event))),
      enable: ({ path }) => Effect.map(webhooks.enable(path.id), data),
      deliveries: ({ path }) => Effect.map(outbox.deliveries(path.id), (found) => data(found.map(deliveryView))),
      replay: ({ path, payload }) => Effect.map(outbox.replay(path.id, payload), data),
      notices: ({ path }) => Effect.map(outbox.notices(path.id), (found) => data(found.map(noticeView))),
      events: ({ path }) => Effect.map(webhooks.events(path.id), (events) => data(events.map(asSent)))
    }
    return handlers
  })
