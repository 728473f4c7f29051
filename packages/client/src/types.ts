// Written by `npm run codegen` from the schemas in packages/core/src; change those instead.

/** Ready and never collected, or in the workshop without news from the shop. */
export type AbandonReason = "uncollected" | "no_news"

/** A client as a shop that knows them sees them. */
export interface Client {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name as the client wishes it shown: in full, or the given name with an initial. */
  readonly display_name: string | null
  /** How many of their tickets are still in the shop. */
  readonly tickets_open: number
  /** How many tickets they ever had in the shop. */
  readonly tickets_total: number
  /** Their card; null while the shop's programme is off. */
  readonly loyalty: LoyaltyCard | null
}

/** The client linked to the ticket. */
export interface ClientBadge {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name as the client wishes it shown: in full, or the given name with an initial. */
  readonly display_name: string | null
}

/** With the code CONFLICT. */
export interface ConflictDetails {
  /** The reason, for programs. */
  readonly reason: "SAME_STATE" | "INVALID_TRANSITION" | "REOPEN_WINDOW" | "ABANDONED" | "IDEMPOTENCY_KEY_REUSED" | "LOYALTY_OFF" | "NO_REWARD" | "TOO_MANY_KEYS" | "OFFER_CLOSED" | "QUOTE_CLOSED"
  /** Of a refused move: the state the ticket is in. */
  readonly from?: TicketState | undefined
  /** Of a refused move: the requested status. */
  readonly to?: TicketStatus | undefined
  /** Of a refused move: the statuses the ticket would accept now. */
  readonly allowed?: ReadonlyArray<TicketStatus> | undefined
  /** Of a ticket that refuses: the state it is in. */
  readonly state?: TicketState | undefined
  /** Of a ticket that refuses: when it last changed (ISO 8601, UTC). */
  readonly updated_at?: string | undefined
}

/** Whether a ticket was created in the app or through the API. */
export type CreatedVia = "app" | "api"

/** The last postponement of the promised date. */
export interface Delay {
  /** The date that was promised before, or null (ISO 8601, UTC). */
  readonly previous_promised_at: string | null
  /** The shop's reason for the delay, or null (1 to 500 characters). */
  readonly reason: string | null
  /** When the promise was moved (ISO 8601, UTC). */
  readonly announced_at: string
}

/** With the code PROFANITY. */
export interface FieldDetails {
  /** The dotted path of the text with the word. */
  readonly field: string
}

/** With the code VALIDATION_ERROR. */
export interface IssueDetails {
  /** All problems of the request at once (1 to 50 entries). */
  readonly issues: ReadonlyArray<RequestIssue>
  /** True if some issues were left out, else absent. */
  readonly has_more?: true | undefined
}

/** With the code TOO_MANY_ATTEMPTS. */
export interface LimitDetails {
  /** The policy that is used up. */
  readonly limit: "requests_per_minute" | "writes_per_minute" | "tickets_per_hour" | "tickets_per_day" | "lookups_per_hour" | "lookups_per_day" | "stamps_per_day" | "moves_per_day" | "notifications_per_day" | "unauthenticated_per_minute" | "tracking_per_minute"
}

/** The end of a page, and where to continue. */
export interface ListMeta {
  /** Whether there is another page. */
  readonly has_more: boolean
  /** Send it as `cursor` for the next page; null on the last one. */
  readonly next_cursor: string | null
  /** Present if `updated_since` was sent: send it as `updated_since` next time (ISO 8601, UTC). */
  readonly synced_until?: string | undefined
}

/** A shop's loyalty programme and a client's card. */
export interface Loyalty {
  /** The shop's rules. */
  readonly program: LoyaltyProgram
  /** The client's card, also while the programme is off. */
  readonly card: LoyaltyCard
}

/** A client's stamps and rewards at one shop. */
export interface LoyaltyCard {
  /** Stamps that are not spent yet. */
  readonly balance: number
  /** All stamps ever given; spending does not lower it. */
  readonly lifetime: number
  /** How many rewards the balance would buy now. */
  readonly rewards_available: number
  /** How many rewards were used so far. */
  readonly rewards_redeemed: number
  /** When the card last changed; null for a card never used (ISO 8601, UTC). */
  readonly updated_at: string | null
}

/** A shop's rules for stamps and rewards. */
export interface LoyaltyProgram {
  /** Whether stamps are given and rewards used at present. */
  readonly active: boolean
  /** The shop's name for its programme, or null (1 to 120 characters). */
  readonly name: string | null
  /** How many stamps a reward costs. */
  readonly stamps_required: number
  /** How many stamps a finished ticket of a linked client earns, once. */
  readonly stamps_per_ticket: number
  /** The reward, such as `A free hem`, or null (1 to 120 characters). */
  readonly reward_label: string | null
}

/** Amounts in minor units, with the currency and its number of decimals. */
export interface Money {
  /** ISO 4217 code of the shop's currency. */
  readonly currency: string | null
  /** How many digits an amount has after the decimal point: with 3, 12500 is 12.500. */
  readonly decimals: number
  /** The price in minor units, or null if the shop gave none. */
  readonly price_minor: number | null
  /** The amount paid already in minor units, or null. */
  readonly deposit_minor: number | null
  /** Price less deposit in minor units; null without a price. */
  readonly remaining_minor: number | null
  /** The price before the client accepted a new one, or null. */
  readonly before_minor: number | null
}

/** The other tickets with the same number. */
export interface NumberMeta {
  /** Other tickets with the number, newest first, at most 100. */
  readonly others: ReadonlyArray<TicketSummary>
}

/** A part ordered for the ticket. */
export interface Part {
  /** The name of the part (1 to 200 characters). */
  readonly label: string
  /** `ordered` while the part is on its way, then `received`. */
  readonly status: PartStatus
  /** When the shop ordered it (ISO 8601, UTC). */
  readonly ordered_at: string
  /** When the shop expects it, or null (ISO 8601, UTC). */
  readonly expected_at: string | null
  /** When it arrived, or null (ISO 8601, UTC). */
  readonly received_at: string | null
}

/** On its way, or received. */
export type PartStatus = "ordered" | "received"

/** A new price proposed to the client. */
export interface Quote {
  /** Waiting for the client, or how they answered. */
  readonly status: QuoteStatus
  /** The new price in minor units. */
  readonly price_minor: number
  /** The shop's reason for the new price, or null (1 to 500 characters). */
  readonly note: string | null
  /** When the shop proposed it (ISO 8601, UTC). */
  readonly proposed_at: string
  /** When the client answered, or null (ISO 8601, UTC). */
  readonly answered_at: string | null
}

/** Waiting for the client, or how they answered. */
export type QuoteStatus = "proposed" | "accepted" | "refused"

/** Whether the response is a repetition. */
export interface RepeatableMeta {
  /** False in the first response to an Idempotency-Key, true in every repetition. */
  readonly replayed: boolean
}

/** One problem of a request. */
export interface RequestIssue {
  /** The part of the request with the problem. */
  readonly in: "body" | "query" | "path" | "header"
  /** The dotted path of the field with the problem, such as `items.1.label`. */
  readonly field: string
  /** The problem, and how to correct it. */
  readonly message: string
}

/** A reward that was given, and the card afterwards. */
export interface RewardRedeemed {
  /** The card afterwards. */
  readonly card: LoyaltyCard
  /** The reward that was given. */
  readonly reward: {
    /** The reward, as the programme named it then, or null. */
    readonly label: string | null
    /** When it was used (ISO 8601, UTC). */
    readonly redeemed_at: string
  }
}

/** A permission of a key. */
export type Scope = "tickets:read" | "tickets:write" | "clients:read" | "loyalty:write"

/** With the code FORBIDDEN. */
export interface ScopeDetails {
  /** The scope that the key lacks. */
  readonly scope: Scope
}

/** The shop behind the key. */
export interface Shop {
  /** The shop's id; it never changes. */
  readonly id: string
  /** The shop's name. */
  readonly name: string
  /** ISO 4217 code of all amounts of the shop. */
  readonly currency: string
  /** How many digits an amount has after the decimal point. */
  readonly decimals: number
  /** The IANA name of the time zone. Daily limits start again at its midnight. */
  readonly time_zone: string
  /** The scopes of the key that you used. */
  readonly scopes: ReadonlyArray<Scope>
}

/** The way in which the shop itself notified its client. */
export type ShopChannel = "sms" | "whatsapp" | "call"

/** Stamps that were added, and the card afterwards. */
export interface StampsGiven {
  /** The card afterwards. */
  readonly card: LoyaltyCard
  /** How many stamps were added. */
  readonly added: number
  /** How many more rewards the card can now buy. */
  readonly rewards_unlocked: number
}

/** Something that a shop repairs or prepares for a client, with its state, its price and its dates. */
export interface Ticket {
  /** The ticket's id; it never changes. */
  readonly id: string
  /** The number that the shop writes on the item. After 9999 the numbers start again at 1, so use `id` to keep a ticket. */
  readonly number: number | null
  /** The number as printed: four digits. */
  readonly number_label: string | null
  /** The ticket's state. */
  readonly state: TicketState
  /** Of a collected ticket: `ready` if the work was done, `impossible` if it was not; null for other states. */
  readonly outcome: TicketOutcome | null
  /** `repair` is work on something brought in, `prepare` an order to get ready. */
  readonly type: TicketType
  /** The work to do, such as `Resoling` (1 to 120 characters). */
  readonly service: string
  /** The item that was brought in, such as `Brown boots` (1 to 200 characters). */
  readonly item: string | null
  /** A note for the people in the workshop (1 to 2000 characters). */
  readonly description: string | null
  /** The items on this ticket if there are several; empty for one. */
  readonly items: ReadonlyArray<TicketItem>
  /** Price, deposit and what is left to pay. */
  readonly money: Money
  /** The last new price that was proposed to the client, or null. */
  readonly quote: Quote | null
  /** When the shop promised to be ready (ISO 8601, UTC). */
  readonly promised_at: string | null
  /** The last postponement of the promised date, or null. */
  readonly delay: Delay | null
  /** The part the workshop waits for or has received, or null. */
  readonly part: Part | null
  /** The linked client; null if there is none or they block the shop. */
  readonly client: ClientBadge | null
  /** The phone number given with the ticket, in E.164. */
  readonly client_phone: string | null
  /** The code on the receipt, by which a client finds the ticket. It has no I, L, O or U, so that it can be read aloud. */
  readonly tracking_code: string | null
  /** The page on which the client follows the ticket; null if the shop has none. */
  readonly tracking_url: string | null
  /** A picture of the item. */
  readonly photo_url: string | null
  /** When the ticket was created (ISO 8601, UTC). */
  readonly created_at: string
  /** When anything of the ticket last changed. It never decreases in the order of changes, so a sync can rely on it (ISO 8601, UTC). */
  readonly updated_at: string
  /** When it became ready; null again when it goes back to the workshop (ISO 8601, UTC). */
  readonly ready_at: string | null
  /** When it was collected; null again when it is reopened (ISO 8601, UTC). */
  readonly collected_at: string | null
  /** When the service closed the ticket, or null (ISO 8601, UTC). */
  readonly abandoned_at: string | null
  /** Why the service closed it, or null. */
  readonly abandon_reason: AbandonReason | null
  /** When the client was last notified, by the app or by the shop, or null (ISO 8601, UTC). */
  readonly notified_at: string | null
  /** Whether the ticket was created in the shop's app or through this API. */
  readonly created_via: CreatedVia
  /** Your own reference, to find the ticket by (1 to 64 characters). */
  readonly external_ref: string | null
}

/** A ticket to open. */
export interface TicketInput {
  /** The work to do, such as `Resoling` (1 to 120 characters). */
  readonly service: string
  /** `repair` is work on something brought in, `prepare` an order to get ready. */
  readonly type?: TicketType | null | undefined
  /** The item that was brought in, such as `Brown boots` (1 to 200 characters). */
  readonly item?: string | null | undefined
  /** A note for the people in the workshop (1 to 2000 characters). */
  readonly description?: string | null | undefined
  /** Several items on one ticket (2 to 20 entries). */
  readonly items?: ReadonlyArray<TicketItemInput> | null | undefined
  /** A client known to the shop, who is linked at once. */
  readonly client_id?: string | null | undefined
  /** The phone number to which the ticket is offered, in international format. The response is the same whether or not an account has it. */
  readonly client_phone?: string | null | undefined
  /** The price in minor units of the shop's currency. */
  readonly price_minor?: number | null | undefined
  /** The amount paid already, in minor units; at most the price. */
  readonly deposit_minor?: number | null | undefined
  /** When the shop promised to be ready (ISO 8601, UTC). */
  readonly promised_at?: string | null | undefined
  /** Your own reference, to find the ticket by (1 to 64 characters). */
  readonly external_ref?: string | null | undefined
}

/** One of several items on a ticket. */
export interface TicketItem {
  /** The entry's id. */
  readonly id: string
  /** The item, such as `Left boot` (1 to 200 characters). */
  readonly label: string
  /** The work on this item, if it differs from the ticket's (1 to 120 characters). */
  readonly service: string | null
  /** Its price in minor units, for information: the ticket's price is not computed from it. */
  readonly price_minor: number | null
  /** Whether the work on it is done. */
  readonly done: boolean
}

/** One of several items on a ticket to open. */
export interface TicketItemInput {
  /** The item, such as `Left boot` (1 to 200 characters). */
  readonly label: string
  /** The work on this item, if it differs from the ticket's (1 to 120 characters). */
  readonly service?: string | null | undefined
  /** Its price in minor units, for information: the ticket's price is not computed from it. */
  readonly price_minor?: number | null | undefined
}

/** Of a collected ticket: whether the work was done. */
export type TicketOutcome = "ready" | "impossible"

/** The state of a ticket. */
export type TicketState = "workshop" | "ready" | "impossible" | "collected" | "abandoned"

/** A state to which a request can move a ticket. */
export type TicketStatus = "ready" | "impossible" | "workshop" | "collected"

/** The main fields of a ticket. */
export interface TicketSummary {
  /** The ticket's id; it never changes. */
  readonly id: string
  /** The requested number. */
  readonly number: number
  /** The number as printed: four digits. */
  readonly number_label: string
  /** The ticket's state. */
  readonly state: TicketState
  /** When the ticket was created (ISO 8601, UTC). */
  readonly created_at: string
}

/** Work on something brought in, or an order to get ready. */
export type TicketType = "repair" | "prepare"
