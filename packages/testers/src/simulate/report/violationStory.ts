import { idsIn } from "../../testkit/Ids.js"
import type { RecordedRequest, ShopTrace, Trace, Violation } from "../auditor/Trace.js"
import { isReplay, recordedDataOf, toEpochMs } from "../auditor/traceQueries.js"

/** Something that happened to a ticket, as the viewer of reports draws it. */
interface Entry {
  readonly id: string
  readonly at: string
  readonly kind: "state" | "event" | "attempt" | "request" | "notice"
  readonly title: string
  readonly ok: boolean
  readonly detail: Readonly<Record<string, unknown>>
}

/** The ticket that a violation is about, with its shop: the first one that the evidence names. */
const subjectOf = ({ shops }: Trace, { evidence }: Violation) => {
  for (const id of idsIn(evidence))
    for (const shop of shops) {
      const ticket = shop.listed.find((listedTicket) => listedTicket.id === id)
      if (ticket !== undefined) return { shop, ticket }
    }
  return null
}

const entriesOfEvents = ({ events }: ShopTrace, ticket_id: string): ReadonlyArray<Entry> =>
  events
    .filter(({ data }) => data.ticket?.id === ticket_id)
    .flatMap(({ id, type, created_at: at, data }, i, events) => {
      const state = data.ticket?.state ?? ""
      const eventEntry: Entry = { id, at, kind: "event", title: type, ok: true, detail: data }
      return events[i - 1]?.data.ticket?.state === state
        ? [eventEntry]
        : [{ id: `${id} state`, at, kind: "state", title: state, ok: true, detail: { state } }, eventEntry]
    })

const isAbout = (exchange: RecordedRequest, ticket_id: string): boolean =>
  exchange.path.includes(ticket_id) ||
  (/\/tickets$/.test(exchange.path) && recordedDataOf<{ id?: string } | undefined>(exchange)?.id === ticket_id)

const entryOfRequest = (exchange: RecordedRequest): Entry => {
  const { seq, now, method, path, body, response } = exchange
  const status = response?.status ?? 0
  return {
    id: `request ${seq}`,
    at: new Date(now).toISOString(),
    kind: "request",
    title: `${method} ${path}: ${response === null ? "cut off" : status}`,
    ok: status > 0 && status < 400,
    detail: {
      ...{ method, path, status, replayed: isReplay(exchange), fault: response === null ? "lost" : null },
      request: { body: body === undefined ? null : JSON.stringify(body) },
      response: response?.body ?? null
    }
  }
}

/**
 * The story of the ticket that a violation is about, for the viewer of reports: its states, events, attempts and
 * requests, with the violation at the instant of its evidence. Null if the violation is about no ticket.
 */
export const violationStory = (trace: Trace, violation: Violation): unknown => {
  const subject = subjectOf(trace, violation)
  if (subject === null) return null
  const { shop, ticket } = subject
  const events = entriesOfEvents(shop, ticket.id)
  const ids = new Set(events.map(({ id }) => id))
  const deliveries = shop.deliveries.filter(({ event_id }) => ids.has(event_id))
  const attempts = deliveries.flatMap(({ event_id, type, attempts }) =>
    attempts.map((attempt): Entry => {
      const { n, started_at: at, status, error } = attempt
      const ok = status !== null && status < 300
      const title = `${type}, attempt ${n}: ${status ?? error}`
      return { id: `${event_id} attempt ${n}`, at, kind: "attempt", title, ok, detail: { event_id, ...attempt } }
    })
  )
  const requests = trace.exchanges
    .filter((exchange) => exchange.method !== "GET" && isAbout(exchange, ticket.id))
    .map(entryOfRequest)
  const at = /"at":"([^"]+)"/.exec(JSON.stringify(violation.evidence))?.[1] ?? ticket.updated_at
  const violationEntry: Entry = {
    ...{ id: "violation", at, kind: "notice", title: violation.rule, ok: false },
    detail: { message: violation.message, rule_at: violation.rule_at, evidence: violation.evidence }
  }
  const entries = [...requests, ...events, ...attempts, violationEntry].sort(
    (a, b) => toEpochMs(a.at) - toEpochMs(b.at)
  )
  const now = toEpochMs(entries.at(-1)?.at ?? at)
  return { history: { ticket, windows: [], entries }, deliveries, now, zone: shop.time_zone }
}
