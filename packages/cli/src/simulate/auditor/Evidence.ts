/** An answer as it came over HTTP; the names of its headers in lower case. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Envelope
}

/** The envelope of every answer (Specification, Requests and answers). */
export interface Envelope {
  readonly success: boolean
  readonly data?: unknown
  readonly meta?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

/** One request and what came of it, in the order in which they ended. The clock stood at `now` meanwhile. */
export interface Exchange {
  readonly seq: number
  readonly step: number
  /** Milliseconds since 1970 on the sandbox clock; of a move of the clock, where it led. */
  readonly now: number
  readonly actor: string
  readonly act: string
  readonly shop: string | null
  /** The id of the API key it bore. */
  readonly key: string | null
  readonly method: string
  readonly path: string
  readonly query: string
  /** Its Idempotency-Key. */
  readonly once: string | null
  readonly body: unknown
  /** Whether whoever asked got the answer: else they cannot know what came of it, and ask again. */
  readonly isSeen: boolean
  /** Null where it was cut off, and nobody knows what came of it. */
  readonly answer: Answer | null
}

/** A delivery as it reached a receiver, and what that did with it. */
export interface Reception {
  readonly seq: number
  readonly shop: string
  /** What its signature header said; null where it bore none. */
  readonly signature: string | null
  readonly body: string
  /** Null where it hung up instead. */
  readonly status: number | null
  /** It came over a connection that had carried another request before; left out where it did not, or nobody can tell. */
  readonly isKept?: boolean
}

/** A ticket as it is answered, as far as it is audited (Specification, Resources). */
export interface SeenTicket {
  readonly id: string
  readonly number: number
  readonly number_label: string
  readonly state: string
  readonly outcome: string | null
  readonly client: { readonly id: string; readonly display_name: string | null } | null
  readonly client_phone: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly ready_at: string | null
  readonly collected_at: string | null
  readonly abandoned_at: string | null
  readonly abandon_reason: string | null
  readonly notified_at: string | null
}

/** An event as it was sent (Specification, Resources). */
export interface SeenEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: string
  readonly shop_id: string
  readonly data: {
    readonly ticket?: SeenTicket
    readonly from?: string
    readonly reason?: string
    readonly channel?: string
    readonly client?: { readonly id: string }
  }
}

/** One attempt at a delivery, as the sandbox lists it (Specification, Sandbox). */
export interface SeenAttempt {
  readonly n: number
  readonly started_at: string
  readonly status: number | null
  readonly error: string | null
}

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export interface SeenDelivery {
  readonly event_id: string
  readonly type: string
  readonly state: "pending" | "delivered" | "parked" | "dead"
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<SeenAttempt>
}

/** How a shop stood at the end. */
export interface ClosedShop {
  readonly id: string
  readonly time_zone: string
  readonly webhook: {
    readonly on: boolean
    readonly off_reason: string | null
    readonly failures_in_row: number
    readonly first_failure_at: string | null
  } | null
  readonly events: ReadonlyArray<SeenEvent>
  readonly deliveries: ReadonlyArray<SeenDelivery>
  readonly notices: ReadonlyArray<{ readonly kind: string; readonly created_at: string }>
  /** All tickets, page by page. */
  readonly listed: ReadonlyArray<SeenTicket>
  /** What a till knows that followed `updated_since` and `cursor` all along. */
  readonly synced: ReadonlyArray<SeenTicket>
  /** Of each client: the status and data of `GET /v1/clients/{id}/loyalty`. */
  readonly cards: ReadonlyArray<{ readonly client: string; readonly status: number; readonly data: SeenLoyalty | null }>
}

/** A card and its programme (Specification, Resources; Clients and loyalty). */
export interface SeenLoyalty {
  readonly program: { readonly active: boolean; readonly stamps_required: number; readonly stamps_per_ticket: number }
  readonly card: SeenCard
}

/** A loyalty card (Specification, Resources). */
export interface SeenCard {
  readonly balance: number
  readonly lifetime: number
  readonly rewards_available: number
  readonly rewards_redeemed: number
}

/** Everything that was seen of a service from outside: all that the auditor goes by. */
export interface Evidence {
  readonly started_at: number
  readonly ended_at: number
  readonly exchanges: ReadonlyArray<Exchange>
  readonly receptions: ReadonlyArray<Reception>
  readonly shops: ReadonlyArray<ClosedShop>
  readonly clients: ReadonlyArray<{ readonly id: string; readonly phone: string }>
}

/** A rule that was broken, and by what. */
export interface Violation {
  /** The check that found it. */
  readonly rule: string
  readonly section: string
  readonly message: string
  readonly evidence: unknown
}
