import { NUMBER_DIGITS } from "@workshop/core/internal"
import type { Paint, Tone } from "@workshop/core/internal/terminal"
import { Predicate } from "effect"
import type { ReceivedDelivery, ReceivedEvent, ReceivedOutcome, RefusalReason } from "./Receiver.js"

/** The change of one field of a ticket; `field` is a dotted path such as `money.price_minor`. */
interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** The fields that are not shown as changes, because they change with every other field. */
const IGNORED_FIELDS = new Set(["updated_at"])

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** The changes between two states of a ticket, in the order of the later state's fields. */
export const diffTickets = (before: Fields, after: Fields, path = ""): ReadonlyArray<FieldChange> => {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    (name) => !IGNORED_FIELDS.has(name)
  )
  return names.flatMap((name) => {
    const [from = null, to = null] = [before[name], after[name]]
    if (isSame(from, to)) return []
    const field = path + name
    return Predicate.isRecord(from) && Predicate.isRecord(to)
      ? diffTickets(from, to, `${field}.`)
      : [{ field, from, to }]
  })
}

const shortFields = (fields: Fields): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${formatShort(value)}`]))
    .join(" ")

const formatShort = (value: unknown): string => {
  if (Array.isArray(value)) return `${value.length} entries`
  if (Predicate.isRecord(value)) return `{${shortFields(value)}}`
  return typeof value === "string" ? value.replaceAll(/\s+/g, " ") : JSON.stringify(value)
}

/** Writes a change: `state workshop -> ready`, `ready_at 2026-01-01T…` if there was none, `ready_at cleared`. */
export const formatChange = ({ field, from, to }: FieldChange): string => {
  if (to === null) return `${field} cleared`
  return from === null ? `${field} ${formatShort(to)}` : `${field} ${formatShort(from)} -> ${formatShort(to)}`
}

/** The ticket in an event; undefined for an event without a ticket, such as a ping. */
const ticketOf = ({ data: { ticket } }: ReceivedEvent): Fields | undefined =>
  Predicate.isRecord(ticket) ? ticket : undefined

const MAX_KNOWN_TICKETS = 10_000

/** The news in an event: a new ticket, changes to a known ticket, or a state older than the known state. */
export type TicketNews =
  | { readonly kind: "first" }
  | { readonly kind: "changes"; readonly changes: ReadonlyArray<FieldChange> }
  | { readonly kind: "late" }

/** At most ten thousand tickets, each in the state of its latest event. */
export class KnownTickets {
  readonly #tickets = new Map<string, Fields>()

  /** The news in an event. */
  classify(event: ReceivedEvent): TicketNews {
    const after = ticketOf(event)
    if (after === undefined) return { kind: "changes", changes: [] }
    const previousTicket = this.#tickets.get(String(after.id))
    if (previousTicket === undefined) return { kind: "first" }
    // The states are compared by time, because a retry can arrive after later events of its ticket.
    return String(after.updated_at) < String(previousTicket.updated_at)
      ? { kind: "late" }
      : { kind: "changes", changes: diffTickets(previousTicket, after) }
  }

  /** Stores the ticket in the event, unless a later state of it is stored already. */
  remember(event: ReceivedEvent): void {
    const ticket = ticketOf(event)
    if (ticket === undefined || this.classify(event).kind === "late") return
    const id = String(ticket.id)
    this.#tickets.delete(id)
    this.#tickets.set(id, ticket)
    if (this.#tickets.size > MAX_KNOWN_TICKETS) this.#tickets.delete(this.#tickets.keys().next().value!)
  }
}

const TYPE_WIDTH = "ticket.impossible".length
const STATE_WIDTH = "impossible".length

const tones: Readonly<Record<string, Tone>> = {
  "ticket.ready": "good",
  "ticket.collected": "good",
  "ticket.impossible": "bad",
  "ticket.abandoned": "bad",
  "ticket.reopened": "warn"
}

const refusalMessages: Readonly<Record<RefusalReason, string>> = {
  missing: "it has no signature header. If the header has another name, add --signature-header",
  malformed: "its signature header does not have the form t=<seconds>,v1=<hex>",
  mismatch:
    "its signature does not match this body and this secret. If the secret was changed, restart this command with the new secret",
  too_old: "its signature's time is too far behind this machine's clock. To accept it, increase --tolerance",
  too_new:
    "its signature's time is too far ahead of this machine's clock. For a sandbox, use --register, which reads the sandbox's clock, or increase --tolerance",
  not_an_event: "its body is not an event",
  not_a_post: "it is not a POST",
  too_large: "its body is larger than 1 MiB"
}

/** The descriptions of the replies other than a status. */
const specialReplies: Readonly<Record<Exclude<ReceivedDelivery["answered"], number>, string>> = {
  redirect: "responded with a redirect",
  endless: "responded with an endless body",
  trickle: "responded with one byte per second",
  silent: "no response",
  cut: "cut off"
}

const replyInWords = (reply: ReceivedDelivery["answered"]): string =>
  typeof reply === "number" ? `responded ${reply}` : specialReplies[reply]

const oneLineText = (value: unknown): string =>
  (typeof value === "string" || typeof value === "number" ? String(value) : "").replaceAll(/\s+/g, " ")

/** The texts of an event outside the ticket, such as the channel through which a client was notified. */
const otherTexts = ({ data: { ticket: _, ...rest } }: ReceivedEvent): ReadonlyArray<string> =>
  Object.entries(rest).flatMap(([name, value]) =>
    typeof value === "string" && name !== "notified_at" ? [`${name} ${oneLineText(value)}`] : []
  )

const serviceAndItem = (ticket: Fields): string =>
  [ticket.service, ticket.item]
    .map(oneLineText)
    .filter((part) => part !== "")
    .join(", ")

const outcomeText: Readonly<Record<ReceivedOutcome, (received: ReceivedDelivery, paint: Paint) => string>> = {
  event: ({ answered: reply }, paint) => (reply === 200 ? "" : paint("warn", replyInWords(reply))),
  again: (_, paint) => paint("warn", "again"),
  failed: ({ answered: reply }, paint) => paint("bad", replyInWords(reply)),
  refused: (_, paint) => paint("bad", "refused")
}

const newsInWords = (news: TicketNews, ticket: Fields | undefined): ReadonlyArray<string> => {
  if (news.kind === "changes") return news.changes.map(formatChange)
  return [news.kind === "first" ? serviceAndItem(ticket ?? {}) : "late: a newer event of this ticket arrived earlier"]
}

/** A request on one line: time, type, ticket, state, and what changed. */
export const eventLine = (received: ReceivedDelivery, news: TicketNews, paint: Paint): string => {
  const time = paint("faint", new Date(received.at).toISOString().slice(0, 19).replace("T", " "))
  const { event, refused_as } = received
  if (event === null || refused_as !== null) {
    return `${time}  ${paint("bad", "refused")}  ${refused_as === null ? "" : refusalMessages[refused_as]} (responded ${received.answered})`
  }
  const type = paint(tones[event.type] ?? "name", oneLineText(event.type).padEnd(TYPE_WIDTH))
  const ticket = ticketOf(event)
  const details = [...otherTexts(event), ...newsInWords(news, ticket)].filter((part) => part !== "").join(", ")
  const parts =
    ticket === undefined
      ? [details]
      : [
          paint("strong", oneLineText(ticket.number_label).padEnd(NUMBER_DIGITS)),
          oneLineText(ticket.state).padEnd(STATE_WIDTH),
          details
        ]
  const redialled = received.redialled ? paint("faint", "sent again on a new connection") : ""
  return [time, type, ...parts, outcomeText[received.outcome](received, paint), redialled]
    .filter((part) => part !== "")
    .join("  ")
}

/** A request as one JSON object, for a program. */
export const eventJson = (received: ReceivedDelivery, news: TicketNews): string => {
  const { n, outcome, refused_as, redialled, answered, event, body } = received
  const contentFields = event === null ? { body: body.slice(0, 1000) } : { event }
  const changes = news.kind === "changes" ? news.changes : []
  const at = new Date(received.at).toISOString()
  const request = { kind: "request", n, at, outcome, refused_as, redialled, answered, ...contentFields }
  return JSON.stringify({ ...request, news: news.kind, changes })
}
