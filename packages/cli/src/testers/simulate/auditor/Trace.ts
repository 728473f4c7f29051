import type { LoyaltyCard } from "@workshop/core/promise"
import type { Envelope } from "../../../sandbox/Api.js"
import type { Delivery, Event, Ticket, Webhook } from "../../testkit/ResponseTypes.js"

/** A response as it came over HTTP; the names of its headers in lower case. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Envelope
}

/** One request and what came of it, in the order in which they ended. The clock showed `now` meanwhile. */
export interface RecordedRequest {
  readonly seq: number
  readonly step: number
  /** Milliseconds since 1970 on the sandbox clock; for a move of the clock, the instant it led to. */
  readonly now: number
  readonly actor: string
  readonly act: string
  readonly shop: string | null
  /** The id of the API key it carried. */
  readonly key: string | null
  readonly method: string
  readonly path: string
  readonly query: string
  /** Its Idempotency-Key. */
  readonly once: string | null
  readonly body: unknown
  /** True if the actor got the response. Otherwise the actor repeats the request, because its outcome is unknown. */
  readonly isSeen: boolean
  /** Null if it was cut off, so that its outcome is unknown. */
  readonly response: RecordedResponse | null
}

/** A delivery in a trace: as it reached a receiver, and the response of the receiver. */
export interface TracedDelivery {
  readonly seq: number
  readonly shop: string
  /** Its signature header; null without one. */
  readonly signature: string | null
  readonly body: string
  /** Null where the receiver hung up instead. */
  readonly status: number | null
  /** True if it came over a connection that had carried another request before. */
  readonly isKept?: boolean
}

/** A shop at the end of a simulation. */
export interface ShopTrace {
  readonly id: string
  readonly time_zone: string
  readonly webhook: Omit<Webhook, "url"> | null
  readonly events: ReadonlyArray<Event>
  readonly deliveries: ReadonlyArray<Delivery>
  readonly notices: ReadonlyArray<{ readonly kind: string; readonly created_at: string }>
  /** All tickets, page by page. */
  readonly listed: ReadonlyArray<Ticket>
  /** The tickets known to a till that followed `updated_since` and `cursor` all along. */
  readonly synced: ReadonlyArray<Ticket>
  /** For each client: the status and data of `GET /v1/clients/{id}/loyalty`. */
  readonly cards: ReadonlyArray<{ readonly client: string; readonly status: number; readonly data: Loyalty | null }>
}

/** A card and its programme (Specification, Resources; Clients and loyalty). */
export interface Loyalty {
  readonly program: { readonly active: boolean; readonly stamps_required: number; readonly stamps_per_ticket: number }
  readonly card: LoyaltyCard
}

/** Everything that was seen of a service from outside: all that the auditor goes by. */
export interface Trace {
  readonly started_at: number
  readonly ended_at: number
  readonly exchanges: ReadonlyArray<RecordedRequest>
  readonly receptions: ReadonlyArray<TracedDelivery>
  readonly shops: ReadonlyArray<ShopTrace>
  readonly clients: ReadonlyArray<{ readonly id: string; readonly phone: string }>
}

/** A rule that was broken, and by what. */
export interface Violation {
  /** The check that found it. */
  readonly rule: string
  readonly section: string
  /** The broken rule: its page and anchor. */
  readonly rule_at: string
  readonly message: string
  readonly evidence: unknown
}
