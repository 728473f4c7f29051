/** A ticket in a response, with the fields that testers read (Specification, Resources). */
export interface Ticket {
  readonly id: string
  readonly number: number
  readonly number_label: string
  readonly state: string
  readonly outcome: string | null
  readonly items: ReadonlyArray<{ readonly id: string; readonly label: string; readonly done: boolean }>
  readonly money: Readonly<Record<string, unknown>> & { readonly deposit_minor: number | null }
  readonly client: { readonly id: string; readonly display_name: string | null } | null
  readonly client_phone: string | null
  readonly tracking_code: string
  readonly tracking_url: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly ready_at: string | null
  readonly collected_at: string | null
  readonly abandoned_at: string | null
  readonly abandon_reason: string | null
  readonly notified_at: string | null
  readonly created_via: string
}

/** A loyalty card (Specification, Resources). */
export interface Card {
  readonly balance: number
  readonly lifetime: number
  readonly rewards_available: number
  readonly rewards_redeemed: number
  readonly updated_at: string | null
}

/** A client (Specification, Resources). */
export interface Client {
  readonly id: string
  readonly display_name: string
  readonly tickets_open: number
  readonly tickets_total: number
  readonly loyalty: Card | null
}

/** An event, as a webhook carries it and as the sandbox lists it (Specification, Resources). */
export interface Event {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: string
  readonly shop_id: string
  readonly data: Readonly<Record<string, unknown>> & {
    readonly ticket?: Ticket
    readonly from?: string
    readonly reason?: string
    readonly channel?: string
    readonly client?: { readonly id: string }
  }
}

/** A delivery, as the sandbox lists it (Specification, Sandbox). */
export interface Delivery {
  readonly event_id: string
  readonly type: string
  readonly state: "pending" | "delivered" | "parked" | "dead"
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<DeliveryAttempt>
}

/** One attempt at a delivery, as the sandbox lists it (Specification, Sandbox). */
export interface DeliveryAttempt {
  readonly n: number
  readonly started_at: string
  readonly status: number | null
  readonly error: string | null
}

/** A webhook, as the sandbox shows it (Specification, Sandbox). */
export interface Webhook {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: string | null
  readonly failures_in_row: number
  readonly first_failure_at: string | null
}

/** The body of every response (Specification, Requests and responses). */
export interface Envelope {
  readonly success?: boolean
  readonly data?: unknown
  readonly meta?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}
