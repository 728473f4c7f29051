import {
  type EventRecord,
  type Instant,
  type NoticeRecord,
  type ShopId,
  Ticket,
  TicketNotFound,
  TrackingPages
} from "@workshop/core"
import { nextDeadline, ticketView, toIso } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import {
  acknowledges,
  closure,
  closureMoves,
  DeliveryLog,
  Directory,
  type LoggedDelivery,
  Reads,
  ServiceLimits,
  type TicketRecord
} from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { dataOnly, groupOf, ticketEndpoint } from "./endpoints.js"
import type { LoggedRequest, RequestLog } from "./RequestLog.js"
import { enumSchema } from "./views.js"
import { attemptView, noticeView } from "./WebhookApi.js"

const kinds = {
  state: "the ticket's state changed",
  event: "an event was raised",
  attempt: "an attempt to deliver an event",
  request: "a request to `/v1` about the ticket, except successful reads",
  notice: "the owner was notified about the webhook, because of an attempt for this ticket"
} as const

const Entry = Schema.Struct({
  id: Schema.String,
  at: Schema.String,
  kind: enumSchema(kinds),
  title: Schema.String,
  ok: Schema.Boolean,
  detail: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "HistoryEntry" })

const Window = Schema.Struct({
  kind: Schema.Literal("closure", "reopen"),
  from: Schema.String,
  to: Schema.String
}).annotations({ identifier: "HistoryWindow" })

const History = Schema.Struct({
  ticket: Ticket,
  windows: Schema.Array(Window),
  entries: Schema.Array(Entry)
}).annotations({
  identifier: "TicketHistory"
})

type Entry = typeof Entry.Type

/** The endpoint of a ticket's history (Specification, Sandbox). */
export class HistoryApi extends groupOf(
  "history",
  ["History", "The history of a ticket"],
  ticketEndpoint("GET", "readHistory", "/history", History, [
    "Read a ticket's history",
    "Returns the ticket's states, events, delivery attempts and requests, and the notices that its attempts caused, oldest first. `windows` has the period that ends with the ticket's automatic closure, and the period after each collection in which the ticket can or could be reopened."
  ])
) {}

interface TicketEvent {
  readonly event: EventRecord
  readonly body: Readonly<Record<string, unknown>> & { readonly data: { readonly ticket: Ticket } }
}

/** The entries of the ticket's events. Before an event that changed the state is an entry with the new state. */
const eventEntries = (events: ReadonlyArray<TicketEvent>): ReadonlyArray<Entry> =>
  events.flatMap(({ event, body }, i) => {
    const at = toIso(event.created_at)
    const { state } = body.data.ticket
    const stateBefore = events[i - 1]?.body.data.ticket.state
    const eventEntry = { id: event.id, at, kind: "event" as const, title: event.type, ok: true, detail: body }
    return state === stateBefore
      ? [eventEntry]
      : [
          {
            id: `${event.id} state`,
            at,
            kind: "state" as const,
            title: state,
            ok: true,
            detail: { state, from: stateBefore ?? null }
          },
          eventEntry
        ]
  })

const deliveryEntries = ({ event_id, type, attempts }: LoggedDelivery): ReadonlyArray<Entry> =>
  attempts.map((attempt) => ({
    id: `${event_id} attempt ${attempt.n}`,
    at: toIso(attempt.started_at),
    kind: "attempt",
    title: `${type}, attempt ${attempt.n}: ${attempt.status ?? attempt.error ?? "no response"}`,
    ok: acknowledges(attempt),
    detail: { event_id, ...attemptView(attempt) }
  }))

const requestEntry = (request: LoggedRequest): Entry => {
  const { id, at, method, path, status, code, reason, replayed, fault } = request
  const why = [reason ?? code, replayed ? "replayed" : null, fault].filter((word) => word !== null)
  return {
    id: `request ${id}`,
    at,
    kind: "request",
    title: `${method} ${path}: ${[status, ...why].join(", ")}`,
    ok: status < 400 && fault !== "lose_answer",
    detail: { ...request }
  }
}

const windowOf = (kind: "closure" | "reopen", from: number, to: number) => ({ kind, from: toIso(from), to: toIso(to) })

/** The instant at which the ticket left the state of the event `i`; infinite if it is still in that state. */
const stateEndAt = (events: ReadonlyArray<TicketEvent>, i: number): number => {
  const { state } = events[i]!.body.data.ticket
  const nextChange = events.slice(i + 1).find(({ body }) => body.data.ticket.state !== state)
  return nextChange?.event.created_at ?? Number.POSITIVE_INFINITY
}

/** The instant until which a ticket that was collected at `at` can be reopened. */
const reopenEnd = (at: Instant): Instant =>
  nextDeadline({ state: "collected", collected_at: at, ready_at: null, shop_changed_at: at, updated_at: at }, at)?.at ??
  at

/**
 * The window until the ticket's automatic closure, and the windows after each collection in which the ticket could be
 * reopened. A reopening ends its window early.
 */
const windowsOf = (record: TicketRecord, events: ReadonlyArray<TicketEvent>) => {
  const row = closure(record) === null ? undefined : closureMoves.find(({ from }) => from === record.state)
  const since = row === undefined ? null : record[row.counts_from]
  return [
    ...events.flatMap(({ event: { type, created_at } }, i) =>
      type === "ticket.collected"
        ? [windowOf("reopen", created_at, Math.min(reopenEnd(created_at), stateEndAt(events, i)))]
        : []
    ),
    ...(row === undefined || since === null ? [] : [windowOf("closure", since, since + row.after_ms)])
  ]
}

/** The maximum time between an attempt and the record of its result, in milliseconds. */
const RECORDED_WITHIN_MS = 1000

/**
 * Whether an attempt of these deliveries caused the notice, because other notices of the shop were caused by other
 * tickets' deliveries.
 */
const isCausedBy = ({ created_at }: NoticeRecord, ticketDeliveries: ReadonlyArray<LoggedDelivery>): boolean =>
  ticketDeliveries
    .flatMap(({ attempts }) => attempts)
    .some(
      ({ started_at, timings }) =>
        started_at <= created_at && created_at <= started_at + timings.total_ms + RECORDED_WITHIN_MS
    )

const ALL = { limit: ServiceLimits.list_max }

/** Handles the endpoint of a ticket's history. */
export const historyHandlers = (log: RequestLog) =>
  Effect.gen(function* () {
    const reads = yield* Reads
    const directory = yield* Directory
    const deliveries = yield* DeliveryLog
    const pages = yield* TrackingPages

    const entriesOf = Effect.fnUntraced(function* (
      shop_id: ShopId,
      record: TicketRecord,
      events: ReadonlyArray<TicketEvent>
    ) {
      const ids = new Set<string>(events.map(({ event }) => event.id))
      const ticketDeliveries = (yield* deliveries.deliveries(shop_id, ALL)).filter(({ event_id }) => ids.has(event_id))
      const notices = (yield* deliveries.notices(shop_id)).filter((notice) => isCausedBy(notice, ticketDeliveries))
      const requests = log.all.filter(
        ({ ticket_id, method, status, fault }) =>
          ticket_id === record.id && (method !== "GET" || status >= 400 || fault !== null)
      )
      return [
        ...requests.map(requestEntry),
        ...eventEntries(events),
        ...ticketDeliveries.flatMap(deliveryEntries),
        ...notices.map(
          (notice): Entry => ({
            id: notice.id,
            at: toIso(notice.created_at),
            kind: "notice",
            title: notice.kind,
            ok: false,
            detail: noticeView(notice)
          })
        )
      ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    })

    const handlers: GroupHandlers<typeof HistoryApi, void> = {
      readHistory: Effect.fnUntraced(function* ({ path: { id } }) {
        const shop_id = yield* directory.shopOf({ _tag: "Ticket", id })
        if (shop_id === null) return yield* new TicketNotFound()
        const { shop, tickets } = yield* reads.ticket(shop_id, id)
        const [found] = tickets
        if (found === undefined) return yield* new TicketNotFound()
        const events = (yield* reads.events(shop_id, ALL)).filter(({ ticket_id }) => ticket_id === id)
        const ticketEvents = events.map(
          (event): TicketEvent => ({ event, body: JSON.parse(event.body) as TicketEvent["body"] })
        )
        return dataOnly({
          ticket: ticketView(found.record, shop, found.client, pages.base_url),
          windows: windowsOf(found.record, ticketEvents),
          entries: yield* entriesOf(shop_id, found.record, ticketEvents)
        })
      })
    }
    return handlers
  })
