// Written by `npm run codegen` from the schemas in packages/core/src; change those instead.

/** `uncollected` if the item was ready and never collected, `no_news` if the shop changed nothing while it was in the workshop. */
export type AbandonReason = "uncollected" | "no_news"

/** A client, as seen by a shop that knows them. */
export interface Client {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name in the form that the client chose: the full name, or the given name with the initial of the family name. */
  readonly display_name: string | null
  /** How many of the client's tickets are open in this shop. */
  readonly tickets_open: number
  /** How many tickets the client has ever had in this shop. */
  readonly tickets_total: number
  /** The client's loyalty card. null while the shop's programme is off. */
  readonly loyalty: LoyaltyCard | null
}

/** The client linked to the ticket. */
export interface ClientBadge {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name in the form that the client chose: the full name, or the given name with the initial of the family name. */
  readonly display_name: string | null
}

/** With the code CONFLICT. */
export interface ConflictDetails {
  /** The reason, in a form for programs. */
  readonly reason: "SAME_STATE" | "INVALID_TRANSITION" | "REOPEN_WINDOW" | "ABANDONED" | "IDEMPOTENCY_KEY_REUSED" | "LOYALTY_OFF" | "NO_REWARD" | "TOO_MANY_KEYS" | "OFFER_CLOSED" | "QUOTE_CLOSED"
  /** For a refused move, the state of the ticket. */
  readonly from?: TicketState | undefined
  /** For a refused move, the requested status. */
  readonly to?: TicketStatus | undefined
  /** For a refused move, the statuses that the ticket accepts now. */
  readonly allowed?: ReadonlyArray<TicketStatus> | undefined
  /** For a conflict of a ticket, the ticket's state. */
  readonly state?: TicketState | undefined
  /** For a conflict of a ticket, when the ticket last changed (ISO 8601, UTC). */
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
  /** When the shop postponed the date (ISO 8601, UTC). */
  readonly announced_at: string
}

/** With the code PROFANITY. */
export interface FieldDetails {
  /** The dotted path of the text with the forbidden word. */
  readonly field: string
}

/** With the code VALIDATION_ERROR. */
export interface IssueDetails {
  /** All problems of the request (1 to 50 entries). */
  readonly issues: ReadonlyArray<RequestIssue>
  /** True if some issues were omitted, otherwise absent. */
  readonly has_more?: true | undefined
}

/** With the code TOO_MANY_ATTEMPTS. */
export interface LimitDetails {
  /** The name of the limit that is used up. */
  readonly limit: "requests_per_minute" | "writes_per_minute" | "tickets_per_hour" | "tickets_per_day" | "lookups_per_hour" | "lookups_per_day" | "stamps_per_day" | "moves_per_day" | "notifications_per_day" | "unauthenticated_per_minute" | "tracking_per_minute"
}

/** Whether there are more pages, and how to continue. */
export interface ListMeta {
  /** Whether there is another page. */
  readonly has_more: boolean
  /** Send this as `cursor` to get the next page. null on the last page. */
  readonly next_cursor: string | null
  /** Present if `updated_since` was sent. Send this as `updated_since` in the next sync (ISO 8601, UTC). */
  readonly synced_until?: string | undefined
}

/** A shop's loyalty programme and a client's card. */
export interface Loyalty {
  /** The shop's loyalty programme. */
  readonly program: LoyaltyProgram
  /** The client's card, which is present even while the programme is off. */
  readonly card: LoyaltyCard
}

/** A client's stamps and rewards at one shop. */
export interface LoyaltyCard {
  /** The stamps that are not spent yet. */
  readonly balance: number
  /** All stamps ever given. Using a reward does not lower this number. */
  readonly lifetime: number
  /** How many rewards the client could use now. */
  readonly rewards_available: number
  /** How many rewards the client has used so far. */
  readonly rewards_redeemed: number
  /** When the card last changed. null for a card that was never used (ISO 8601, UTC). */
  readonly updated_at: string | null
}

/** A shop's rules for stamps and rewards. */
export interface LoyaltyProgram {
  /** Whether the programme is on, so that stamps can be given and rewards used. */
  readonly active: boolean
  /** The shop's name for its programme, or null (1 to 120 characters). */
  readonly name: string | null
  /** How many stamps a reward costs. */
  readonly stamps_required: number
  /** How many stamps a finished ticket of a linked client earns. A ticket earns stamps only once. */
  readonly stamps_per_ticket: number
  /** The reward, such as `A free hem`, or null (1 to 120 characters). */
  readonly reward_label: string | null
}

/** Amounts in minor units, with the currency and its number of decimals. */
export interface Money {
  /** The ISO 4217 code of the shop's currency. */
  readonly currency: string | null
  /** How many digits an amount has after the decimal point. With 3, the amount 12500 is 12.500. */
  readonly decimals: number
  /** The price in minor units, or null if the shop gave no price. */
  readonly price_minor: number | null
  /** The amount already paid, in minor units, or null. */
  readonly deposit_minor: number | null
  /** The price minus the deposit, in minor units. null without a price. */
  readonly remaining_minor: number | null
  /** The price before the client accepted a new one, or null. */
  readonly before_minor: number | null
}

/** The other tickets with the same number. */
export interface NumberMeta {
  /** Other tickets with the number, newest first, at most 100. */
  readonly others: ReadonlyArray<TicketSummary>
}

/** A part that the shop ordered for the ticket. */
export interface Part {
  /** The name of the part (1 to 200 characters). */
  readonly label: string
  /** `ordered` while the part is on its way, then `received`. */
  readonly status: PartStatus
  /** When the shop ordered the part (ISO 8601, UTC). */
  readonly ordered_at: string
  /** When the shop expects the part, or null (ISO 8601, UTC). */
  readonly expected_at: string | null
  /** When the part arrived, or null (ISO 8601, UTC). */
  readonly received_at: string | null
}

/** `ordered` while the part is on its way, then `received`. */
export type PartStatus = "ordered" | "received"

/** A new price proposed to the client. */
export interface Quote {
  /** `proposed` until the client answers, then the client's answer. */
  readonly status: QuoteStatus
  /** The new price in minor units. */
  readonly price_minor: number
  /** The shop's reason for the new price, or null (1 to 500 characters). */
  readonly note: string | null
  /** When the shop proposed the price (ISO 8601, UTC). */
  readonly proposed_at: string
  /** When the client answered, or null (ISO 8601, UTC). */
  readonly answered_at: string | null
}

/** `proposed` until the client answers, then the client's answer. */
export type QuoteStatus = "proposed" | "accepted" | "refused"

/** Whether the response repeats an earlier one. */
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

/** The reward that was used, and the card afterwards. */
export interface RewardRedeemed {
  /** The card afterwards. */
  readonly card: LoyaltyCard
  /** The reward that was used. */
  readonly reward: {
    /** The programme's name for the reward at that time, or null. */
    readonly label: string | null
    /** When the reward was used (ISO 8601, UTC). */
    readonly redeemed_at: string
  }
}

/** A permission of an API key. */
export type Scope = "tickets:read" | "tickets:write" | "clients:read" | "loyalty:write"

/** With the code FORBIDDEN. */
export interface ScopeDetails {
  /** The scope that the key lacks. */
  readonly scope: Scope
}

/** The shop behind the key. */
export interface Shop {
  /** The shop's id, which never changes. */
  readonly id: string
  /** The shop's name. */
  readonly name: string
  /** The ISO 4217 code of the currency of all the shop's amounts. */
  readonly currency: string
  /** How many digits an amount has after the decimal point. */
  readonly decimals: number
  /** The IANA name of the shop's time zone. Daily limits reset at midnight in this time zone. */
  readonly time_zone: string
  /** The scopes of the key that you used. */
  readonly scopes: ReadonlyArray<Scope>
}

/** How the shop itself notified its client. */
export type ShopChannel = "sms" | "whatsapp" | "call"

/** How many stamps were added, and the card afterwards. */
export interface StampsGiven {
  /** The card afterwards. */
  readonly card: LoyaltyCard
  /** How many stamps were added. */
  readonly added: number
  /** How many more rewards the client can use because of these stamps. */
  readonly rewards_unlocked: number
}

/** Something that a shop repairs or prepares for a client, with its state, its price and its dates. */
export interface Ticket {
  /** The ticket's id, which never changes. */
  readonly id: string
  /** The number that the shop writes on the item. After 9999 the numbers start again at 1, so use `id` to identify a ticket. */
  readonly number: number | null
  /** The number as printed, with 4 digits. */
  readonly number_label: string | null
  /** The ticket's state. */
  readonly state: TicketState
  /** For a collected ticket, `ready` if the work was done and `impossible` if not. null in other states. */
  readonly outcome: TicketOutcome | null
  /** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
  readonly type: TicketType
  /** The work to do, such as `Resoling` (1 to 120 characters). */
  readonly service: string
  /** The item that was brought in, such as `Brown boots` (1 to 200 characters). */
  readonly item: string | null
  /** A note for the people in the workshop (1 to 2000 characters). */
  readonly description: string | null
  /** The items on this ticket if there are several. Empty for a single item. */
  readonly items: ReadonlyArray<TicketItem>
  /** Price, deposit and what is left to pay. */
  readonly money: Money
  /** The last new price that was proposed to the client, or null. */
  readonly quote: Quote | null
  /** The time by which the shop promised to have the ticket ready (ISO 8601, UTC). */
  readonly promised_at: string | null
  /** The last postponement of the promised date, or null. */
  readonly delay: Delay | null
  /** The part that the workshop waits for or has received, or null. */
  readonly part: Part | null
  /** The linked client. null if no client is linked, or if the client blocks the shop. */
  readonly client: ClientBadge | null
  /** The phone number that was given with the ticket, in E.164. */
  readonly client_phone: string | null
  /** The code on the receipt, by which a client finds the ticket. It has no I, L, O or U, so that it can be read aloud. */
  readonly tracking_code: string | null
  /** The page on which the client follows the ticket. null if the shop has no such pages. */
  readonly tracking_url: string | null
  /** A picture of the item. */
  readonly photo_url: string | null
  /** When the ticket was created (ISO 8601, UTC). */
  readonly created_at: string
  /** When any field of the ticket last changed. Later changes never have an earlier updated_at, so a sync can rely on it (ISO 8601, UTC). */
  readonly updated_at: string
  /** When the ticket became ready. null again after it goes back to the workshop (ISO 8601, UTC). */
  readonly ready_at: string | null
  /** When the item was collected. null again after the ticket is reopened (ISO 8601, UTC). */
  readonly collected_at: string | null
  /** When the service closed the ticket, or null (ISO 8601, UTC). */
  readonly abandoned_at: string | null
  /** Why the service closed the ticket, or null. */
  readonly abandon_reason: AbandonReason | null
  /** When the client was last notified, by the app or by the shop, or null (ISO 8601, UTC). */
  readonly notified_at: string | null
  /** Whether the ticket was created in the shop's app or through this API. */
  readonly created_via: CreatedVia
  /** Your own reference, by which you can find the ticket (1 to 64 characters). */
  readonly external_ref: string | null
}

/** A ticket to create. */
export interface TicketInput {
  /** The work to do, such as `Resoling` (1 to 120 characters). */
  readonly service: string
  /** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
  readonly type?: TicketType | null | undefined
  /** The item that was brought in, such as `Brown boots` (1 to 200 characters). */
  readonly item?: string | null | undefined
  /** A note for the people in the workshop (1 to 2000 characters). */
  readonly description?: string | null | undefined
  /** The items, if the ticket has several (2 to 20 entries). */
  readonly items?: ReadonlyArray<TicketItemInput> | null | undefined
  /** The id of a client whom the shop knows. The ticket is linked to the client at once. */
  readonly client_id?: string | null | undefined
  /** The phone number to which the ticket is offered, in international format. The response is the same whether or not an account has this number. */
  readonly client_phone?: string | null | undefined
  /** The price in minor units of the shop's currency. */
  readonly price_minor?: number | null | undefined
  /** The amount already paid, in minor units, at most the price. */
  readonly deposit_minor?: number | null | undefined
  /** The time by which the shop promised to have the ticket ready (ISO 8601, UTC). */
  readonly promised_at?: string | null | undefined
  /** Your own reference, by which you can find the ticket (1 to 64 characters). */
  readonly external_ref?: string | null | undefined
}

/** One of several items on a ticket. */
export interface TicketItem {
  /** The item's id. */
  readonly id: string
  /** The item, such as `Left boot` (1 to 200 characters). */
  readonly label: string
  /** The work on this item, if it differs from the ticket's service (1 to 120 characters). */
  readonly service: string | null
  /** The item's price in minor units, for information only. The ticket's price is not computed from it. */
  readonly price_minor: number | null
  /** Whether the work on the item is done. */
  readonly done: boolean
}

/** One of several items on a ticket to create. */
export interface TicketItemInput {
  /** The item, such as `Left boot` (1 to 200 characters). */
  readonly label: string
  /** The work on this item, if it differs from the ticket's service (1 to 120 characters). */
  readonly service?: string | null | undefined
  /** The item's price in minor units, for information only. The ticket's price is not computed from it. */
  readonly price_minor?: number | null | undefined
}

/** For a collected ticket, whether the work was done. */
export type TicketOutcome = "ready" | "impossible"

/** The state of a ticket. */
export type TicketState = "workshop" | "ready" | "impossible" | "collected" | "abandoned"

/** A state to which a request can move a ticket. */
export type TicketStatus = "ready" | "impossible" | "workshop" | "collected"

/** The main fields of a ticket. */
export interface TicketSummary {
  /** The ticket's id, which never changes. */
  readonly id: string
  /** The requested number. */
  readonly number: number
  /** The number as printed, with 4 digits. */
  readonly number_label: string
  /** The ticket's state. */
  readonly state: TicketState
  /** When the ticket was created (ISO 8601, UTC). */
  readonly created_at: string
}

/** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
export type TicketType = "repair" | "prepare"
