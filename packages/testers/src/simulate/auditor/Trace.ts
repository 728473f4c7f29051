import type { LoyaltyCard } from "@workshop/core/promise"
import type { Envelope } from "../../testkit/Api.js"
import type { DeliveryJson, EventJson, TicketJson, WebhookJson } from "../../testkit/ResponseTypes.js"

/** A response over HTTP. The names of its headers are in lower case. */
export interface RecordedResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body. */
  readonly body: Envelope
}

/**
 * A request and its outcome. Requests are recorded in the order in which they ended. `now` is the time of the clock
 * during the request.
 */
export interface RecordedRequest {
  /** The number of the request among all requests and deliveries of the run. */
  readonly seq: number
  /** The step of the simulation that made the request. */
  readonly step: number
  /** Milliseconds since 1970 on the sandbox clock; for a move of the clock, the instant after it. */
  readonly now: number
  /** The maker of the request: `till`, `app`, `owner`, `client`, `clock` or `auditor`. */
  readonly actor: string
  /** The short name by which reports group requests. */
  readonly action: string
  /** The id of the shop that the request is about; null if there is none. */
  readonly shop: string | null
  /** The id of the API key of the request; null if it had none. */
  readonly key: string | null
  /** The HTTP method. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The query without `?`; empty if there is none. */
  readonly query: string
  /** The Idempotency-Key of the request; null if it had none. */
  readonly idempotency_key: string | null
  /** The body before it was written as JSON; undefined if there was none. */
  readonly body: unknown
  /** True if the actor got the response. Otherwise the actor repeats the request, because its outcome is unknown. */
  readonly isSeen: boolean
  /** The response; null if the request was cut off, so that its outcome is unknown. */
  readonly response: RecordedResponse | null
}

/** A delivery as it reached a receiver, with the response of the receiver. */
export interface TracedDelivery {
  /** The number of the delivery among all requests and deliveries of the run. */
  readonly seq: number
  /** The id of the shop whose receiver got the delivery. */
  readonly shop: string
  /** The signature header; null if there was none. */
  readonly signature: string | null
  /** The body as it arrived. */
  readonly body: string
  /** The status of the response; null if the receiver closed the connection. */
  readonly status: number | null
  /** True if the delivery came on a connection that had carried another request before. */
  readonly isKept?: boolean
}

/** A shop at the end of a simulation. */
export interface ShopTrace {
  /** The id of the shop. */
  readonly id: string
  /** The time zone of the shop, such as `Africa/Tunis`. */
  readonly time_zone: string
  /** The webhook as the sandbox shows it; null if none was set. */
  readonly webhook: Omit<WebhookJson, "url"> | null
  /** The events of the shop, oldest first. */
  readonly events: ReadonlyArray<EventJson>
  /** The deliveries of the shop, in the order of their events. */
  readonly deliveries: ReadonlyArray<DeliveryJson>
  /** The notices to the owner about the webhook, oldest first. */
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
  /** Whether the programme is on, what a reward costs, and what a ticket earns. */
  readonly program: { readonly active: boolean; readonly stamps_required: number; readonly stamps_per_ticket: number }
  /** The client's card. */
  readonly card: LoyaltyCard
}

/** Everything that was seen of a service from outside. The auditor uses nothing else. */
export interface Trace {
  /** When the run began, in milliseconds since 1970 on the sandbox clock. */
  readonly started_at: number
  /** When the run ended, in milliseconds since 1970 on the sandbox clock. */
  readonly ended_at: number
  /** All requests, in the order in which they ended. */
  readonly exchanges: ReadonlyArray<RecordedRequest>
  /** All deliveries, in the order in which they arrived. */
  readonly receptions: ReadonlyArray<TracedDelivery>
  /** The shops at the end of the run. */
  readonly shops: ReadonlyArray<ShopTrace>
  /** The clients with their phone numbers. */
  readonly clients: ReadonlyArray<{ readonly id: string; readonly phone: string }>
}

/** A broken rule, with the evidence. */
export interface Violation {
  /** The name of the check that found the violation. */
  readonly rule: string
  /** The section of the specification with the broken rule. */
  readonly section: string
  /** The page and the anchor of the broken rule. */
  readonly rule_at: string
  /** The observation that breaks the rule, in one sentence. */
  readonly message: string
  /** The requests, events or rows that show the violation. */
  readonly evidence: unknown
}
