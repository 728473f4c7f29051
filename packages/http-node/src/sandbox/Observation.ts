import { CachedRateLimits, CommittedChanges, type EventRecord } from "@workshop/core"
import type { Change } from "@workshop/core/store"
import { Effect, Option } from "effect"
import { Faults } from "./Faults.js"
import { Feed, processStart } from "./Feed.js"
import { type LoggedRequest, RequestLog } from "./RequestLog.js"
import { eventView } from "./views.js"
import { attemptView, noticeView } from "./WebhookApi.js"

const publishEvent = (feed: Feed, record: EventRecord) => {
  const event = eventView(record)
  feed.publish("event", event)
  if (event.data.ticket !== undefined) feed.publish("ticket", { shop_id: record.shop_id, ticket: event.data.ticket })
}

const publishChange = (feed: Feed, change: Change): void => {
  if (change._tag === "EventRaised") publishEvent(feed, change.row)
  else if (change._tag === "AttemptAppended") {
    const { shop_id, event_id } = change.row
    feed.publish("attempt", { shop_id, event_id, ...attemptView(change.row) })
  } else if (change._tag === "NoticeAppended")
    feed.publish("notice", { shop_id: change.row.shop_id, ...noticeView(change.row) })
}

/**
 * Makes the feed of a sandbox, its log of requests, and its faults. The feed gets all logged requests and committed
 * changes.
 */
export const observeSandbox = Effect.gen(function* () {
  const started_at = yield* processStart
  const feed = new Feed(started_at)
  const faults = new Faults()
  const publishRequest = (request: LoggedRequest) => {
    feed.publish("request", request)
    if (request.fault !== null) feed.publish("fault", { at: request.at, faults: faults.all, met: request.fault })
  }
  const log = new RequestLog(faults, yield* CachedRateLimits, publishRequest, started_at)
  const changes = yield* Effect.serviceOption(CommittedChanges)
  if (Option.isSome(changes))
    changes.value.listen((committed) => {
      for (const change of committed) publishChange(feed, change)
    })
  return { feed, faults, log }
})
