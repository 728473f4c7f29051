import type { ApiKeyRecord, EventId, EventRecord, Instant, LimitStatus, ShopId, TicketId } from "@workshop/core"
import { nextDeadline, numberLabel, overlapEndOf } from "@workshop/core/internal"
import type { TicketRecord, Webhook } from "@workshop/core/store"

/** The kinds of events that time alone causes: a delivery attempt, a closure, the end of a period in which something is allowed. */
export type AgendaKind = "retry" | "closure" | "reopen_end" | "limit_reset" | "secret_end" | "key_expiry"

/** An event that will happen in a shop as time passes. */
export interface AgendaEntry {
  readonly at: Instant
  readonly kind: AgendaKind
  readonly shop_id: ShopId
  readonly ticket_id: TicketId | null
  readonly number_label: string | null
  readonly event_id: EventId | null
  readonly event_type: EventRecord["type"] | null
  /** A one-line description for people. */
  readonly text: string
}

/** The next attempt of a delivery. */
export interface AwaitedAttempt {
  readonly event_id: EventId
  readonly type: EventRecord["type"]
  readonly ticket_id: TicketId | null
  readonly number_label: string | null
  /** The number of the attempt. */
  readonly n: number
  readonly at: Instant
}

/** The data from which an agenda is made. */
export interface AgendaData {
  readonly shop_id: ShopId
  readonly webhook: Webhook | null
  readonly keys: ReadonlyArray<ApiKeyRecord>
  readonly tickets: ReadonlyArray<TicketRecord>
  readonly attempts: ReadonlyArray<AwaitedAttempt>
  /** The limits that have been used. */
  readonly limits: ReadonlyArray<LimitStatus>
}

const ticketEntries = (ticket: TicketRecord, now: Instant) => {
  const due = nextDeadline(ticket, now)
  if (due === null) return []
  const number_label = numberLabel(ticket.number)
  const text = due.kind === "closure" ? "is closed" : "can no longer be reopened"
  return [{ ...due, ticket_id: ticket.id, number_label, text: `Ticket ${number_label} ${text}` }]
}

const attemptEntry = ({ event_id, type, n, ...rest }: AwaitedAttempt) => {
  const text = `Attempt ${n} to send ${type}${rest.number_label === null ? "" : ` of ${rest.number_label}`}`
  return { ...rest, kind: "retry" as const, event_id, event_type: type, text }
}

const webhookEntries = (webhook: Webhook | null, now: Instant) => {
  const at = webhook === null ? null : overlapEndOf(webhook, now)
  return at === null ? [] : [{ at, kind: "secret_end" as const, text: "The webhook's old secret stops signing" }]
}

const keyEntries = ({ name, expires_at, revoked_at }: ApiKeyRecord) =>
  expires_at === null || revoked_at !== null
    ? []
    : [{ at: expires_at, kind: "key_expiry" as const, text: `The key ${name} expires` }]

const limitEntry = ({ policy, limit, remaining, resets_at }: LimitStatus) =>
  remaining === limit
    ? []
    : [
        {
          at: resets_at,
          kind: "limit_reset" as const,
          text: `The limit ${policy} resets (${limit - remaining} of ${limit} used)`
        }
      ]

/** Everything scheduled in a shop at `now` or later, soonest first. */
export const agendaOf = (data: AgendaData, now: Instant): ReadonlyArray<AgendaEntry> =>
  [
    ...data.attempts.map(attemptEntry),
    ...data.tickets.flatMap((ticket) => ticketEntries(ticket, now)),
    ...webhookEntries(data.webhook, now),
    ...data.keys.flatMap(keyEntries),
    ...data.limits.flatMap(limitEntry)
  ]
    .filter(({ at }) => at >= now)
    .map((due) => ({
      shop_id: data.shop_id,
      ticket_id: null,
      number_label: null,
      event_id: null,
      event_type: null,
      ...due
    }))
    .sort((a, b) => a.at - b.at)
