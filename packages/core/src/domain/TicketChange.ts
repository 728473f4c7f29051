import type * as Named from "@workshop/client"
import type { EventType } from "./EventType.js"
import type { ClientId } from "./Identifier.js"
import { type Instant, toIso } from "./Instant.js"
import { ServiceLimits } from "./Limits.js"
import type { Person } from "./Person.js"

/** The author of a change: a caller of the services, a client in the app, or the service itself, such as by a closure. */
export interface ChangeAuthor {
  /** `caller` for a caller of the services, `client` for the ticket's client, `service` for the service itself. */
  readonly by: "caller" | "client" | "service"
  /** The `caller_id`, or the client's id; null for the service, and for a client who was erased. */
  readonly caller_id: string | null
}

/** The author of the service's own changes. */
export const serviceAuthor: ChangeAuthor = { by: "service", caller_id: null }

/** The author of a client's act in the app; null if it is not known which client acted. */
export const clientAuthor = (client_id: ClientId | null): ChangeAuthor => ({ by: "client", caller_id: client_id })

/** A change of a ticket as it is stored with the ticket. */
export interface TicketChangeRecord extends ChangeAuthor {
  /** When the ticket changed, in milliseconds since 1970. */
  readonly at: Instant
  /** The first event that the change raised. */
  readonly type: Exclude<EventType, "ping">
  /** The fields that a `ticket.updated` changed. */
  readonly changed?: ReadonlyArray<keyof Named.Ticket>
}

/** A change of a ticket: when, what, and by whom. The API does not show these changes. */
export interface TicketChange extends ChangeAuthor {
  /** The instant of the change (ISO 8601). */
  readonly at: string
  /** The event that the change raised, such as `ticket.ready`. */
  readonly type: Exclude<EventType, "ping">
  /** The fields that a `ticket.updated` changed, such as `promised_at`; null for other types. */
  readonly changed: ReadonlyArray<keyof Named.Ticket> | null
}

type History = ReadonlyArray<TicketChangeRecord>

/** The history with one more change. A long history retains only its first change and the latest ones. */
export const withChange = (history: History | null | undefined, change: TicketChangeRecord): History => {
  if (history == null) return [change]
  const olderChanges = history.length < ServiceLimits.history_changes ? history : [history[0]!, ...history.slice(2)]
  return [...olderChanges, change]
}

/** The history in the form that methods return, oldest first. */
export const historyView = (history: History | null | undefined): ReadonlyArray<TicketChange> =>
  (history ?? []).map(({ at, type, changed = null, by, caller_id }) => ({
    at: toIso(at),
    type,
    changed,
    by,
    caller_id
  }))

/** Erases a client from a history: their id and numbers are removed, and the ids of a shop's own people stay. */
export const eraseFromHistory = ({ client_id, phones }: Person, history: History): History => {
  const isTheirs = ({ caller_id }: ChangeAuthor) =>
    caller_id === client_id || phones.some((phone) => phone === caller_id)
  return history.map((change) => (isTheirs(change) ? { ...change, caller_id: null } : change))
}
