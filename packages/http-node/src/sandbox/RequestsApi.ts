import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { ShopId, TicketId } from "@workshop/core"
import type { Page } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { Clock, Effect, Runtime, Schedule, Schema } from "effect"
import { dataOnly, describeOperation, endpoint, groupOf } from "./endpoints.js"
import { type Feed, feedEvents } from "./Feed.js"
import { countParameter, optionalParameter } from "./queryParameters.js"
import { LoggedRequest, type RequestLog } from "./RequestLog.js"

const after = countParameter(Number.MAX_SAFE_INTEGER, "Return only entries after the entry with this id")

const RequestsQuery = Schema.Struct({
  shop: optionalParameter(ShopId, "Return only requests of this shop"),
  ticket: optionalParameter(TicketId, "Return only requests about this ticket"),
  after,
  limit: countParameter(5000, "Return only the latest requests, at most this many. By default, all are returned")
})

const StreamQuery = Schema.Struct({
  after,
  token: optionalParameter(
    Schema.String,
    "The sandbox's token, for browsers, which cannot send it as a header with this request"
  )
})

const events = Object.entries(feedEvents)
  .map(([event, meaning]) => `\`${event}\`: ${meaning}`)
  .join("; ")

/** The endpoints of the log of requests to `/v1`, and of the stream of all activity (Specification, Sandbox). */
export class RequestsApi extends groupOf(
  "requests",
  ["Requests", "The requests to the API, and a stream of everything that happens"],
  endpoint("GET", "listRequests", "/requests", Schema.Array(LoggedRequest), [
    "List the requests to the API",
    "Returns the latest 5,000 requests to `/v1` with their responses, oldest first. The entries contain no keys."
  ]).setUrlParams(RequestsQuery),
  HttpApiEndpoint.get("followSandbox", "/stream")
    .setUrlParams(StreamQuery)
    .setHeaders(Schema.Struct({ "last-event-id": Schema.optionalWith(Schema.String, { exact: true }) }))
    .addSuccess(Schema.String.pipe(HttpApiSchema.withEncoding({ kind: "Text", contentType: "text/event-stream" })))
    .annotateContext(
      describeOperation("followSandbox", [
        "Follow everything that happens",
        `Returns a stream of server-sent events. The first is \`hello\` with the newest id and the start time of the process. Then comes everything that happens, with ids that increase, even after a restart. The events are ${events}. To continue after an id, send \`Last-Event-ID\` or \`after\`; \`after=0\` returns everything since the process started. \`reset\` means that some events after that id are no longer stored, or that all data were replaced, so read everything again. A comment comes every 15 seconds.`
      ])
    )
) {}

const KEEP_ALIVE = "15 seconds"

/** Handles the endpoints that list the logged requests and stream the feed. */
export const requestsHandlers = (log: RequestLog, feed: Feed) =>
  Effect.map(Effect.runtime<never>(), (runtime): GroupHandlers<typeof RequestsApi, void> => {
    const comments = (send: (text: string) => void) =>
      Runtime.runCallback(runtime)(
        Effect.repeat(
          Effect.sync(() => send(":\n\n")),
          Schedule.spaced(KEEP_ALIVE)
        ).pipe(Effect.delay(KEEP_ALIVE), Effect.withClock(Clock.make()))
      )

    const stream = (from: number | undefined): Page => ({
      headers: { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" },
      body: feed.begin(from),
      follow: (send) => {
        const stop = feed.follow(send)
        const quiet = comments(send)
        return () => {
          stop()
          quiet()
        }
      }
    })

    return {
      listRequests: ({ urlParams: { shop, ticket, after: since = 0, limit = Number.POSITIVE_INFINITY } }) =>
        Effect.sync(() => {
          const requests = log.all.filter(
            ({ id, shop_id, ticket_id }) =>
              id > since && (shop === undefined || shop_id === shop) && (ticket === undefined || ticket_id === ticket)
          )
          return dataOnly(requests.slice(Math.max(0, requests.length - limit)))
        }),
      followSandbox: ({ urlParams, headers }) => {
        const lastEventId = headers["last-event-id"]
        const from = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : urlParams.after
        // The cast is needed because a stream has no envelope, which the types of handlers require.
        return Effect.sync(() => stream(from) as never)
      }
    }
  })
