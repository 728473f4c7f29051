import type { LoyaltyCard } from "@workshop/core/promise"
import type { Envelope } from "../../testkit/Api.js"
import type { DeliveryJson, EventJson, TicketJson, WebhookJson } from "../../testkit/ResponseTypes.js"

/** A response over HTTP. The names of its headers are in lower case. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Envelope
}

/**
 * A request and its outcome. Requests are recorded in the order in which they ended. `now` is the time of the clock
 * during the request.
 */
export interface RecordedRequest {
  readonly seq: number
  readonly step: number
  /** Milliseconds since 1970 on the sandbox clock; for a move of the clock, the instant after it. */
  readonly now: number
  readonly actor: string
  readonly action: string
  readonly shop: string | null
  /** The id of the API key of the request; null if it had none. */
  readonly key: string | null
  readonly method: string
  readonly path: string
  readonly query: string
  /** The Idempotency-Key of the request; null if it had none. */
  readonly idempotency_key: string | null
  readonly body: unknown
  /** True if the actor got the response. Otherwise the actor repeats the request, because its outcome is unknown. */
  readonly isSeen: boolean
  /** The response; null if the request was cut off, so that its outcome is unknown. */
  readonly response: RecordedResponse | null
}

/** A delivery as it reached a receiver, with the response of the receiver. */
export interface TracedDelivery {
  readonly seq: number
  readonly shop: string
  /** The signature header; null if there was none. */
  readonly signature: string | null
  readonly body: string
  /** The status of the response; null if the receiver closed the connection. */
  readonly status: number | null
  /** True if the delivery came on a connection that had carried another request before. */
  readonly isKept?: boolean
}

/** A shop at the end of a simulation. */
export interface ShopTrace {
  readonly id: string
  readonly time_zone: string
  readonly webhook: Omit<WebhookJson, "url"> | null
  readonly events: ReadonlyArray<EventJson>
  readonly deliveries: ReadonlyArray<DeliveryJson>
  readonly notices: ReadonlyArray<{ readonly kind: string; readonly created_at: string }>
  /** All tickets, read page by page. */
  readonly listed: ReadonlyArray<TicketJson>
  /** The tickets of a till that followed the list with `updated_since` and `cursor` during the whole simulation. */
  readonly synced: ReadonlyArray<TicketJson>
  /** For each client: the status and data of `GET /v1/clients/{id}/loyalty`. */
  readonly cards: ReadonlyArray<{
    readonly client: string
    readonly status: number
    readonly data: LoyaltySettings | null
  }>
}

/** A card and its programme (Specification, Resources; Clients and loyalty). */
export interface LoyaltySettings {
  readonly program: { readonly active: boolean; readonly stamps_required: number; readonly stamps_per_ticket: number }
  readonly card: LoyaltyCard
}

/** Everything that was seen of a service from outside. The auditor uses nothing else. */
export interface Trace {
  readonly started_at: number
  readonly ended_at: number
  readonly exchanges: ReadonlyArray<RecordedRequest>
  readonly receptions: ReadonlyArray<TracedDelivery>
  readonly shops: ReadonlyArray<ShopTrace>
  readonly clients: ReadonlyArray<{ readonly id: string; readonly phone: string }>
}

/** A broken rule, with the evidence. */
export interface Violation {
  /** The name of the check that found the violation. */
  readonly rule: string
  readonly section: string
  /** The page and the anchor of the broken rule. */
  readonly rule_at: string
  readonly message: string
  readonly evidence: unknown
}
