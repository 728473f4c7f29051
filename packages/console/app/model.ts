// biome-ignore lint/suspicious/noExplicitAny: responses are read where their shape is known
export type Json = any

/** The states of a ticket, in the order of the page. */
export const states = ["workshop", "ready", "impossible", "collected", "abandoned"] as const
export type State = (typeof states)[number]

/** A shop with its settings. */
export interface Shop {
  readonly id: string
  readonly name: string
  readonly currency: string
  readonly decimals: number
  readonly time_zone: string
  readonly active: boolean
  readonly program: {
    readonly active: boolean
    readonly stamps_required: number
    readonly stamps_per_ticket: number
    readonly reward_label: string | null
  }
  readonly next_number: number
  readonly languages: ReadonlyArray<string>
  readonly forbidden_words: ReadonlyArray<string>
  readonly allowed_words: ReadonlyArray<string>
}

/** A ticket as the API shows it, with the next event that time alone causes on it. */
export interface Ticket {
  readonly id: string
  readonly number: number
  readonly number_label: string
  readonly state: State
  readonly service: string
  readonly item: string | null
  readonly money: {
    readonly currency: string
    readonly decimals: number
    readonly price_minor: number | null
    readonly deposit_minor: number | null
    readonly remaining_minor: number | null
    readonly before_minor: number | null
  }
  readonly quote: { readonly status: string; readonly price_minor: number; readonly note: string | null } | null
  readonly promised_at: string | null
  readonly client: { readonly id: string; readonly display_name: string } | null
  readonly client_phone: string | null
  readonly tracking_url: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly created_via: string
  readonly external_ref: string | null
  readonly next?: { readonly at: string; readonly kind: "closure" | "reopen_end" } | null
}

/** An act and whether the ticket would accept it. */
export interface Move {
  readonly act: string
  readonly accepted: boolean
  readonly reason: string | null
}

/** Something that happened to a ticket. */
export interface Entry {
  readonly id: string
  readonly at: string
  readonly kind: "state" | "event" | "attempt" | "request" | "notice"
  readonly title: string
  readonly ok: boolean
  readonly detail: Json
}

/** A period of a ticket, such as the period in which it can be reopened. */
export interface Window {
  readonly kind: "closure" | "reopen"
  readonly from: string
  readonly to: string
}

/** A ticket's story. */
export interface History {
  readonly ticket: Ticket
  readonly windows: ReadonlyArray<Window>
  readonly entries: ReadonlyArray<Entry>
}

/** An event that time alone causes. */
export interface Due {
  readonly at: string
  readonly kind: "retry" | "closure" | "reopen_end" | "limit_reset" | "secret_end" | "key_expiry"
  readonly shop_id: string
  readonly ticket_id: string | null
  readonly number_label: string | null
  readonly event_id: string | null
  readonly event_type: string | null
  readonly text: string
}

/** An attempt to deliver an event. */
export interface Attempt {
  readonly n: number
  readonly started_at: string
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
  readonly detail: string | null
}

/** An event that is sent, with its attempts. */
export interface Delivery {
  readonly event_id: string
  readonly type: string
  readonly state: "pending" | "delivered" | "parked" | "dead"
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly ticket_id: string | null
  readonly number_label: string | null
  readonly created_at: string
  readonly parked: boolean
  readonly request: {
    readonly body: string
    readonly sent: {
      readonly at: string
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    } | null
  }
}

/** A shop's webhook. */
export interface Webhook {
  readonly url: string | null
  readonly on: boolean
  readonly off_reason: string | null
  readonly off_since: string | null
  readonly parked: number
  readonly failures_in_row: number
}

/** The behaviour of the built-in receiver. */
export interface Receiver {
  readonly url: string
  readonly answer: number | string
  readonly times: number | null
  readonly afterwards: number | string
  readonly forward_to: string | null
  readonly in_use: boolean
}

/** An event that the built-in receiver got. */
export interface ReceivedEvent {
  readonly id: number
  readonly at: string
  readonly event_id: string
  readonly type: string
  readonly signature: { readonly ok: boolean; readonly base: string; readonly expected: string; readonly got: string }
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly answered: string
}

/** A fault that requests meet. */
export interface Fault {
  readonly id?: string
  readonly method: string | null
  readonly path: string | null
  readonly fault: "lose_answer" | "503" | "429" | "delay"
  readonly next: number | null
  readonly delay_ms?: number
}

/** The status of a limit. */
export interface Limit {
  readonly name: string
  readonly per: string
  readonly key_id: string | null
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly resets_at: string
}

/** A client as seen from a shop. */
export interface Client {
  readonly id: string
  readonly display_name: string
  readonly phone: string
  readonly known: boolean
  readonly blocked: boolean
  readonly card: { readonly balance: number; readonly rewards_available: number } | null
}

/** A key of a shop. */
export interface Key {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly last_four: string
  readonly revoked_at: string | null
  readonly expires_at: string | null
}

/** A request to `/v1`, as it was logged. */
export interface LoggedRequest {
  readonly id: number
  readonly at: string
  readonly shop_id: string | null
  readonly key_last_four: string | null
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string | null
  readonly reason: string | null
  readonly ticket_id: string | null
  readonly replayed: boolean
  readonly fault: Fault["fault"] | null
  readonly duration_ms: number
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string | null }
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
}
