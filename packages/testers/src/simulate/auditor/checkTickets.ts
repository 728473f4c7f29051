import { type CallName, callOf } from "../../testkit/Calls.js"
import type { EventJson, TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY, HOUR } from "../../testkit/Time.js"
import { type Breach, makeBreach } from "./Breach.js"
import type { RecordedRequest, ShopTrace, Trace } from "./Trace.js"
import {
  type CheckFinding,
  evidenceOf,
  groupEventsByTicket,
  groupValues,
  isReplay,
  isSuccess,
  isTicketCreation,
  makeCheck,
  operationsOf,
  recordedDataOf,
  successfulCalls,
  type TicketEvent,
  toEpochMs
} from "./traceQueries.js"

const eventOfStatus: Readonly<Record<string, string>> = {
  ready: "ticket.ready",
  impossible: "ticket.impossible",
  collected: "ticket.collected",
  workshop: "ticket.reopened"
}

/** The events that calls about a ticket raise, except a change of its status. */
const eventOfCall: Partial<Record<CallName, string>> = {
  notified: "client.notified",
  "propose quote": "quote.proposed",
  "accept quote": "quote.accepted",
  "refuse quote": "quote.refused",
  "edit ticket": "ticket.updated",
  "announce delay": "ticket.updated",
  "record part": "ticket.updated",
  "attach photo": "ticket.updated"
}

/** The event that a successful call raises, and its ticket. */
const raisedEventOf = (exchange: RecordedRequest): { readonly type: string; readonly ticket: string | null } | null => {
  const call = isSuccess(exchange) ? callOf(exchange) : null
  if (call === null) return null
  if (call.name === "ping") return { type: "ping", ticket: null }
  if (call.name === "set status")
    return { type: eventOfStatus[(exchange.body as { readonly status: string }).status] ?? "", ticket: call.id }
  if (isTicketCreation(exchange))
    return isReplay(exchange)
      ? null
      : { type: "ticket.created", ticket: recordedDataOf<{ readonly id: string }>(exchange).id }
  const type = eventOfCall[call.name]
  return type === undefined ? null : { type, ticket: call.id }
}

const eventKeyOf = (type: string, ticket: string | null, at: number): string => `${type} ${ticket} ${at}`

const ticketOf = ({ data }: EventJson): string | null => data.ticket?.id ?? null

/** True if an event follows from another event or from time. Each kind has a condition on the event before it. */
const isConsequence = (
  event: EventJson,
  previousEvent: EventJson | undefined,
  exchanges: ReadonlyArray<RecordedRequest>
): boolean => {
  const at = toEpochMs(event.created_at)
  switch (event.type) {
    case "ticket.abandoned":
      return true
    case "client.notified":
      return (
        event.data.channel === "app" &&
        (previousEvent?.type === "ticket.ready" || previousEvent?.type === "ticket.impossible") &&
        ticketOf(previousEvent) === ticketOf(event) &&
        previousEvent.created_at === event.created_at
      )
    case "client.linked":
      return (
        (previousEvent?.type === "ticket.created" && ticketOf(previousEvent) === ticketOf(event)) ||
        exchanges.some(
          (exchange) => exchange.now === at && callOf(exchange)?.name === "accept offer" && isSuccess(exchange)
        )
      )
    default:
      return false
  }
}

const findEventFormBreach = ({ api_version, shop_id, type, data }: EventJson, shop: string): Breach | null => {
  if (api_version !== "1") return makeBreach("rule-version-in-path", "api_version is not 1")
  if (shop_id !== shop) return makeBreach("rule-event-envelope", "shop_id is the id of another shop")
  return type === "ping" || data.ticket !== undefined ? null : makeBreach("rule-event-steps", "the event has no ticket")
}

/** For each type of event of a ticket with a client: the type of the next event, and the rule that requires it. */
const FOLLOWERS: Readonly<Record<string, { readonly type: string; readonly anchor: Breach["anchor"] }>> = {
  "ticket.ready": { type: "client.notified", anchor: "rule-notified-ready" },
  "ticket.impossible": { type: "client.notified", anchor: "rule-notified-ready" },
  "ticket.created": { type: "client.linked", anchor: "rule-create-client-linked" }
}

/** Finds an event of a ticket with a client that is not followed by the event of {@link FOLLOWERS}. */
const findFollowerBreach = (event: EventJson, next: EventJson | undefined): Breach | null => {
  const follower = FOLLOWERS[event.type]
  if (follower === undefined || (event.data.ticket?.client ?? null) === null) return null
  return next?.type === follower.type && ticketOf(next) === ticketOf(event)
    ? null
    : makeBreach(follower.anchor, `${event.type} of a ticket with a client was not followed by ${follower.type}`)
}

function* findEventBreaches(trace: Trace, shop: ShopTrace): Iterable<CheckFinding> {
  const requestsOfShop = trace.exchanges.filter((exchange) => exchange.shop === shop.id)
  const unansweredCreations = requestsOfShop.filter(
    (request) => request.response === null && isTicketCreation(request)
  ).length
  const expected = new Map<string, Array<RecordedRequest>>()
  for (const exchange of requestsOfShop) {
    const raisedEvent = raisedEventOf(exchange)
    if (raisedEvent === null) continue
    const name = eventKeyOf(raisedEvent.type, raisedEvent.ticket, exchange.now)
    expected.set(name, [...(expected.get(name) ?? []), exchange])
  }
  const created = new Set(
    operationsOf({ exchanges: requestsOfShop }).flatMap(({ call, results }) =>
      call === "create ticket" ? results.map(({ data }) => (data as { readonly id: string }).id) : []
    )
  )
  let unclaimed = 0
  for (const [i, event] of shop.events.entries()) {
    yield [findEventFormBreach(event, shop.id) ?? findFollowerBreach(event, shop.events[i + 1]), event]
    const previousEvent = shop.events[i - 1]
    if (previousEvent !== undefined && toEpochMs(event.created_at) < toEpochMs(previousEvent.created_at))
      yield [
        makeBreach("rule-instants-held", "created_at of an event is before that of the previous event"),
        [previousEvent, event]
      ]
    // This case is checked first, because the service and the shop may notify a client in the same millisecond.
    if (isConsequence(event, previousEvent, requestsOfShop)) continue
    const name = eventKeyOf(event.type, ticketOf(event), toEpochMs(event.created_at))
    if (expected.get(name)?.shift() !== undefined) continue
    if (event.type !== "ticket.created")
      yield [makeBreach("rule-event-steps", `no request raised the event ${event.type}`), event]
    else if (!created.has(ticketOf(event) ?? "")) unclaimed++
  }
  for (const [name, requests] of expected)
    for (const exchange of requests)
      yield [
        makeBreach("rule-event-steps", `a successful request raised no event ${name.split(" ")[0]}`),
        evidenceOf(exchange)
      ]
  if (unclaimed > unansweredCreations)
    yield [
      makeBreach("rule-idempotency-parallel", `${unclaimed} tickets were created, but no response returned them`),
      { shop: shop.id }
    ]
}

/** Every acknowledged request raised its event once, and every event has a cause. */
export const checkEvents = makeCheck("events", "Specification, Webhooks", function* (trace) {
  for (const shop of trace.shops) yield* findEventBreaches(trace, shop)
})

/** The next numbers that the owner set, and when. */
const numberRestarts = (trace: Trace, shop: string) =>
  successfulCalls(trace, "change shop", shop).flatMap(({ now, body }) => {
    const next = (body as { readonly next_number?: number } | undefined)?.next_number
    return next === undefined ? [] : [{ at: now, next }]
  })

const numberBreach = (message: string): Breach => makeBreach("rule-create-numbers", message)

/** Numbers go from 1 to 9999 and start again. None is used twice or omitted. */
export const checkNumbers = makeCheck("numbers", "Specification, Resources; Tickets", function* (trace) {
  for (const { id, events, listed } of trace.shops) {
    const pending = numberRestarts(trace, id)
    let expected = 1
    const numbers = new Map<string, TicketJson>()
    for (const { type, created_at, data } of events) {
      const { ticket } = data
      if (type !== "ticket.created" || ticket === undefined) continue
      while (pending[0] !== undefined && pending[0].at <= toEpochMs(created_at)) expected = pending.shift()!.next
      const { number, number_label } = ticket
      if (number !== expected)
        yield [
          numberBreach(`ticket ${ticket.id} has the number ${number}, but the next number was ${expected}`),
          { shop: id, ticket }
        ]
      if (number_label !== String(number).padStart(4, "0"))
        yield [
          numberBreach(`number_label of the ticket with the number ${number} is ${number_label}`),
          { shop: id, ticket }
        ]
      expected = number === 9999 ? 1 : number + 1
      numbers.set(ticket.id, ticket)
    }
    const listedIds = new Set(listed.map((ticket) => ticket.id))
    for (const ticket of listed) {
      const was = numbers.get(ticket.id)
      if (was === undefined)
        yield [
          makeBreach("rule-create", `ticket ${ticket.id} is listed, but has no event ticket.created`),
          { shop: id, ticket }
        ]
      else if (was.number !== ticket.number)
        yield [numberBreach(`ticket ${ticket.id} changed its number`), { shop: id, was, is: ticket }]
    }
    for (const [ticket, created] of numbers)
      if (!listedIds.has(ticket))
        yield [
          makeBreach("rule-list-newest-first", `ticket ${ticket} has an event ticket.created, but is not in the list`),
          { shop: id, created }
        ]
  }
})

/** The states before and after each event. */
const MOVES: Readonly<Record<string, { readonly from: ReadonlyArray<string>; readonly to: string }>> = {
  "ticket.ready": { from: ["workshop"], to: "ready" },
  "ticket.impossible": { from: ["workshop"], to: "impossible" },
  "ticket.collected": { from: ["ready", "impossible"], to: "collected" },
  "ticket.reopened": { from: ["ready", "impossible", "collected"], to: "workshop" },
  "ticket.abandoned": { from: ["ready", "workshop"], to: "abandoned" }
}

const REOPEN_WINDOW = 24 * HOUR
const CLOSURE_MS = 60 * DAY

/** The shop's changes to a ticket that postpone its closure (Specification, States). */
const NEWS_CALLS = [
  ...(["set status", "notified", "propose quote", "edit ticket"] as const),
  ...(["announce delay", "record part", "attach photo"] as const)
]

type News = ReadonlyArray<RecordedRequest>

/** The requests by which the shop changed each of its tickets. */
const newsByTicket = (trace: Trace): ReadonlyMap<string, News> =>
  groupValues(
    NEWS_CALLS.flatMap((name) => successfulCalls(trace, name)),
    ({ id }) => id
  )

const lastNewsInstant = (news: News = [], created_at: number, until: number): number =>
  news.reduce((last, { now }) => (now <= until && now > last ? now : last), created_at)

/** The instant at which a ticket closes by itself, and the reason. */
const closureOf = (ticket: TicketJson, news: News | undefined, until: number) => {
  if (ticket.state === "ready" && ticket.ready_at !== null)
    return { due_at: toEpochMs(ticket.ready_at) + CLOSURE_MS, reason: "uncollected" }
  if (ticket.state === "workshop")
    return { due_at: lastNewsInstant(news, toEpochMs(ticket.created_at), until) + CLOSURE_MS, reason: "no_news" }
  return null
}

/** The fields that a move sets or clears, each with its rule. */
const FIELD_RULES = {
  ready_at: "rule-status-instants",
  collected_at: "rule-status-instants",
  outcome: "rule-status-instants",
  abandoned_at: "rule-closure-at-its-own-instant",
  abandon_reason: "rule-closure-at-its-own-instant"
} as const satisfies Partial<Record<keyof TicketJson, Breach["anchor"]>>

type MovedField = keyof typeof FIELD_RULES

/** For each state, the fields that must be set and the fields that must not be set. */
const STATE_FIELDS: Readonly<
  Record<string, { readonly set: ReadonlyArray<MovedField>; readonly unset: ReadonlyArray<MovedField> }>
> = {
  workshop: { set: [], unset: ["ready_at", "collected_at", "abandoned_at", "abandon_reason", "outcome"] },
  ready: { set: ["ready_at"], unset: ["collected_at", "abandoned_at", "abandon_reason", "outcome"] },
  impossible: { set: [], unset: ["ready_at", "collected_at", "abandoned_at", "abandon_reason", "outcome"] },
  collected: { set: ["collected_at", "outcome"], unset: ["abandoned_at", "abandon_reason"] },
  abandoned: { set: ["abandoned_at", "abandon_reason"], unset: ["collected_at", "outcome"] }
}

const findFieldBreach = (ticket: TicketJson): Breach | null => {
  const row = STATE_FIELDS[ticket.state]
  if (row === undefined) return makeBreach("rule-status-workshop-ready", `${ticket.state} is not the name of a state`)
  const missing = row.set.find((name) => ticket[name] === null)
  if (missing !== undefined)
    return makeBreach(FIELD_RULES[missing], `the ticket is ${ticket.state}, but ${missing} is null`)
  const fieldThatMustBeNull = row.unset.find((name) => ticket[name] !== null)
  return fieldThatMustBeNull === undefined
    ? null
    : makeBreach(
        FIELD_RULES[fieldThatMustBeNull],
        `the ticket is ${ticket.state}, but ${fieldThatMustBeNull} is not null`
      )
}

const findClosureBreach = (
  before: TicketJson,
  { created_at, data }: TicketEvent,
  news: News | undefined
): Breach | null => {
  const { abandoned_at, abandon_reason } = data.ticket
  const due = closureOf(before, news, toEpochMs(created_at) - 1)
  if (due === null) return makeBreach("rule-closure-never-all", "the ticket was closed although no closure was due")
  const closureBreach = (message: string) => makeBreach("rule-closure-at-its-own-instant", message)
  if (toEpochMs(abandoned_at ?? created_at) !== due.due_at)
    return closureBreach(`the ticket was closed at ${abandoned_at} instead of ${new Date(due.due_at).toISOString()}`)
  return data.reason === due.reason && abandon_reason === due.reason
    ? null
    : closureBreach(`the ticket was closed with the reason ${data.reason} instead of ${due.reason}`)
}

const findTransitionBreach = (before: TicketJson, event: TicketEvent, news: News | undefined): Breach | null => {
  const { type, created_at, data } = event
  const { ticket } = data
  const transitionBreach = (message: string) => makeBreach("rule-status-instants", message)
  switch (type) {
    case "ticket.ready":
      return ticket.ready_at === created_at ? null : transitionBreach("ready_at differs from the time of the event")
    case "ticket.collected": {
      if (ticket.collected_at !== created_at) return transitionBreach("collected_at differs from the time of the event")
      return ticket.outcome === before.state
        ? null
        : makeBreach(
            "rule-reopen-at-24h",
            `outcome is ${ticket.outcome}, but the ticket was ${before.state} before its collection`
          )
    }
    case "ticket.reopened": {
      if (data.from !== before.state)
        return transitionBreach(`from is ${data.from}, but the ticket was ${before.state}`)
      const since = before.collected_at === null ? 0 : toEpochMs(created_at) - toEpochMs(before.collected_at)
      return since > REOPEN_WINDOW
        ? makeBreach("rule-reopen-at-24h", `the ticket was reopened ${since} ms after it was collected`)
        : null
    }
    case "ticket.abandoned":
      return findClosureBreach(before, event, news)
    default:
      return null
  }
}

const findStepBreach = (before: TicketJson | null, event: TicketEvent, news: News | undefined): Breach | null => {
  const { ticket } = event.data
  if (before === null)
    return event.type === "ticket.created"
      ? findFieldBreach(ticket)
      : makeBreach("rule-status-workshop-ready", `the first event is ${event.type} instead of ticket.created`)
  if (event.type === "ticket.created") return makeBreach("rule-create", "the ticket has two events ticket.created")
  if (toEpochMs(ticket.updated_at) < toEpochMs(before.updated_at))
    return makeBreach("rule-instants-held", "updated_at is before that of the previous event")
  if (ticket.updated_at !== event.created_at)
    return makeBreach("rule-instants-held", "updated_at differs from the time of the event")
  const move = MOVES[event.type]
  if (move === undefined) {
    return ticket.state === before.state
      ? findFieldBreach(ticket)
      : makeBreach(
          "rule-status-workshop-ready",
          `${event.type} changes the state from ${before.state} to ${ticket.state}`
        )
  }
  if (!move.from.includes(before.state) || ticket.state !== move.to)
    return makeBreach(
      event.type === "ticket.abandoned" ? "rule-closure-never-all" : "rule-status-workshop-ready",
      `${event.type} changes the state from ${before.state} to ${ticket.state}`
    )
  return findFieldBreach(ticket) ?? findTransitionBreach(before, event, news)
}

function* findHistoryBreaches(trace: Trace, shop: ShopTrace, news: ReadonlyMap<string, News>): Iterable<CheckFinding> {
  const lastTickets = new Map<string, TicketJson>()
  for (const [id, events] of groupEventsByTicket(shop.events)) {
    let previousTicket: TicketJson | null = null
    for (const event of events) {
      const breach = findStepBreach(previousTicket, event, news.get(id))
      if (breach !== null)
        yield [
          makeBreach(breach.anchor, `ticket ${id}: ${breach.message}`),
          { shop: shop.id, before: previousTicket, event }
        ]
      previousTicket = event.data.ticket
      lastTickets.set(id, previousTicket)
    }
  }
  for (const ticket of shop.listed) {
    const name = `ticket ${ticket.id}`
    const lastState = lastTickets.get(ticket.id)
    const fields = findFieldBreach(ticket)
    if (fields !== null) yield [makeBreach(fields.anchor, `${name}: ${fields.message}`), { shop: shop.id, ticket }]
    if (lastState !== undefined && (lastState.state !== ticket.state || lastState.ready_at !== ticket.ready_at))
      yield [
        makeBreach("rule-event-steps", `${name} is ${ticket.state}, but is ${lastState.state} in its last event`),
        { shop: shop.id, ticket, ended: lastState }
      ]
    const due = closureOf(ticket, news.get(ticket.id), trace.ended_at)
    if (due !== null && due.due_at <= trace.ended_at)
      yield [
        makeBreach(
          "rule-closure-uncollected",
          `${name} should have been closed at ${new Date(due.due_at).toISOString()}`
        ),
        { shop: shop.id, ticket }
      ]
  }
}

/**
 * The changes of every ticket's state are allowed by Specification, States, their instants are consistent, and closures
 * are on time.
 */
export const checkHistories = makeCheck("histories", "Specification, States", function* (trace) {
  const news = newsByTicket(trace)
  for (const shop of trace.shops) yield* findHistoryBreaches(trace, shop, news)
})
