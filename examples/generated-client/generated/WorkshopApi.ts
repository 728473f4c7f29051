/* eslint-disable */
/* tslint:disable */
// @ts-nocheck
/*
 * ---------------------------------------------------------------
 * ## THIS FILE WAS GENERATED VIA SWAGGER-TYPESCRIPT-API        ##
 * ##                                                           ##
 * ## AUTHOR: acacode                                           ##
 * ## SOURCE: https://github.com/acacode/swagger-typescript-api ##
 * ---------------------------------------------------------------
 */

/** `repair` for work on an item that was brought in, `prepare` for an order to prepare */
export type TicketType = "repair" | "prepare";

/** A state to which a request can move a ticket */
export type TicketStatus = "ready" | "impossible" | "workshop" | "collected";

/** The state of a ticket */
export type TicketState =
  | "workshop"
  | "ready"
  | "impossible"
  | "collected"
  | "abandoned";

/** For a collected ticket, whether the work was done */
export type TicketOutcome = "ready" | "impossible";

/** How the shop itself notified its client */
export type ShopChannel = "sms" | "whatsapp" | "call";

/** A permission of an API key */
export type Scope =
  | "tickets:read"
  | "tickets:write"
  | "clients:read"
  | "loyalty:write";

/** `proposed` until the client answers, then the client's answer */
export type QuoteStatus = "proposed" | "accepted" | "refused";

/** `ordered` while the part is on its way, then `received` */
export type PartStatus = "ordered" | "received";

/** How the client was notified */
export type NotifiedChannel = "app" | "sms" | "whatsapp" | "call";

/** Whether a ticket was created in the app or through the API */
export type CreatedVia = "app" | "api";

/** `uncollected` if the item was ready and never collected, `no_news` if the shop changed nothing while it was in the workshop */
export type AbandonReason = "uncollected" | "no_news";

/** The body of a delivery. New types will be added, so respond 2xx to events with an unknown type */
export type Event =
  | ({
      type: "ticket.created";
    } & TicketCreatedEvent)
  | ({
      type: "ticket.ready";
    } & TicketReadyEvent)
  | ({
      type: "ticket.impossible";
    } & TicketImpossibleEvent)
  | ({
      type: "ticket.reopened";
    } & TicketReopenedEvent)
  | ({
      type: "ticket.collected";
    } & TicketCollectedEvent)
  | ({
      type: "ticket.abandoned";
    } & TicketAbandonedEvent)
  | ({
      type: "client.notified";
    } & ClientNotifiedEvent)
  | ({
      type: "client.linked";
    } & ClientLinkedEvent)
  | ({
      type: "ticket.updated";
    } & TicketUpdatedEvent)
  | ({
      type: "quote.proposed";
    } & QuoteProposedEvent)
  | ({
      type: "quote.accepted";
    } & QuoteAcceptedEvent)
  | ({
      type: "quote.refused";
    } & QuoteRefusedEvent)
  | ({
      type: "ping";
    } & PingEvent);

/** A client, as seen by a shop that knows them */
export interface Client {
  /**
   * The client's id, the same in every shop that knows them
   * @format uuid
   */
  id: string;
  /** The name in the form that the client chose: the full name, or the given name with the initial of the family name */
  display_name: string | null;
  /**
   * How many of the client's tickets are open in this shop
   * @min 0
   */
  tickets_open: number;
  /**
   * How many tickets the client has ever had in this shop
   * @min 0
   */
  tickets_total: number;
  /** The client's loyalty card. null while the shop's programme is off */
  loyalty: LoyaltyCard | null;
}

/** The client linked to the ticket */
export interface ClientBadge {
  /**
   * The client's id, the same in every shop that knows them
   * @format uuid
   */
  id: string;
  /** The name in the form that the client chose: the full name, or the given name with the initial of the family name */
  display_name: string | null;
}

/** A client is linked to the ticket */
export interface ClientLinkedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** A client is linked to the ticket */
  type: "client.linked";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The client who was linked */
    client: ClientBadge;
  };
}

/** The client was notified in the app, by SMS, by WhatsApp or by a call */
export interface ClientNotifiedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The client was notified in the app, by SMS, by WhatsApp or by a call */
  type: "client.notified";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** How the client was notified */
    channel: NotifiedChannel;
    /**
     * When the client was notified
     * @format date-time
     */
    notified_at: string;
  };
}

export interface ClientResponse {
  /** Whether the request succeeded */
  success: true;
  /** A client, as seen by a shop that knows them */
  data: Client;
}

/** With the code CONFLICT */
export interface ConflictDetails {
  /** The reason, in a form for programs */
  reason:
    | "SAME_STATE"
    | "INVALID_TRANSITION"
    | "REOPEN_WINDOW"
    | "ABANDONED"
    | "IDEMPOTENCY_KEY_REUSED"
    | "LOYALTY_OFF"
    | "NO_REWARD"
    | "TOO_MANY_KEYS"
    | "OFFER_CLOSED"
    | "QUOTE_CLOSED";
  /** For a refused move, the state of the ticket */
  from?: TicketState;
  /** For a refused move, the requested status */
  to?: TicketStatus;
  /** For a refused move, the statuses that the ticket accepts now */
  allowed?: TicketStatus[];
  /** For a conflict of a ticket, the ticket's state */
  state?: TicketState;
  /**
   * For a conflict of a ticket, when the ticket last changed
   * @format date-time
   */
  updated_at?: string;
}

/** CONFLICT: The request is not possible in the current state. details.reason gives the reason */
export interface ConflictResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "CONFLICT";
    /** The cause, in a sentence for people. The text may change */
    message: string;
    /** With the code CONFLICT */
    details: ConflictDetails;
  };
}

/** The last postponement of the promised date */
export interface Delay {
  /**
   * The date that was promised before, or null
   * @format date-time
   */
  previous_promised_at: string | null;
  /**
   * The shop's reason for the delay, or null
   * @minLength 1
   * @maxLength 500
   */
  reason: string | null;
  /**
   * When the shop postponed the date
   * @format date-time
   */
  announced_at: string;
}

/** With the code PROFANITY */
export interface FieldDetails {
  /** The dotted path of the text with the forbidden word */
  field: string;
}

/** FORBIDDEN: The key lacks the scope in details.scope. Without details, the sandbox refused the request, and the message says why. SHOP_NOT_APPROVED: The shop is not approved yet. ACCOUNT_DEACTIVATED: The shop is deactivated. API_DISABLED: The API is not switched on for this shop yet */
export interface ForbiddenResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code:
      | "FORBIDDEN"
      | "SHOP_NOT_APPROVED"
      | "ACCOUNT_DEACTIVATED"
      | "API_DISABLED";
    /** The cause, in a sentence for people. The text may change */
    message: string;
    /** With the code FORBIDDEN */
    details?: ScopeDetails;
  };
}

/** INTERNAL: The service failed. Report the Request-Id */
export interface InternalResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "INTERNAL";
    /** The cause, in a sentence for people. The text may change */
    message: string;
  };
}

/** With the code VALIDATION_ERROR */
export interface IssueDetails {
  /**
   * All problems of the request
   * @maxItems 50
   * @minItems 1
   */
  issues: RequestIssue[];
  /** True if some issues were omitted, otherwise absent */
  has_more?: true;
}

/** With the code TOO_MANY_ATTEMPTS */
export interface LimitDetails {
  /** The name of the limit that is used up */
  limit:
    | "requests_per_minute"
    | "writes_per_minute"
    | "tickets_per_hour"
    | "tickets_per_day"
    | "lookups_per_hour"
    | "lookups_per_day"
    | "stamps_per_day"
    | "moves_per_day"
    | "notifications_per_day"
    | "unauthenticated_per_minute"
    | "tracking_per_minute";
}

/** Whether there are more pages, and how to continue */
export interface ListMeta {
  /** Whether there is another page */
  has_more: boolean;
  /** Send this as `cursor` to get the next page. null on the last page */
  next_cursor: string | null;
  /**
   * Present if `updated_since` was sent. Send this as `updated_since` in the next sync
   * @format date-time
   */
  synced_until?: string;
}

/** A shop's loyalty programme and a client's card */
export interface Loyalty {
  /** The shop's loyalty programme */
  program: LoyaltyProgram;
  /** The client's card, which is present even while the programme is off */
  card: LoyaltyCard;
}

/** A client's stamps and rewards at one shop */
export interface LoyaltyCard {
  /**
   * The stamps that are not spent yet
   * @min 0
   */
  balance: number;
  /**
   * All stamps ever given. Using a reward does not lower this number
   * @min 0
   */
  lifetime: number;
  /**
   * How many rewards the client could use now
   * @min 0
   */
  rewards_available: number;
  /**
   * How many rewards the client has used so far
   * @min 0
   */
  rewards_redeemed: number;
  /**
   * When the card last changed. null for a card that was never used
   * @format date-time
   */
  updated_at: string | null;
}

/** A shop's rules for stamps and rewards */
export interface LoyaltyProgram {
  /** Whether the programme is on, so that stamps can be given and rewards used */
  active: boolean;
  /**
   * The shop's name for its programme, or null
   * @minLength 1
   * @maxLength 120
   */
  name: string | null;
  /**
   * How many stamps a reward costs
   * @min 1
   * @max 1000
   */
  stamps_required: number;
  /**
   * How many stamps a finished ticket of a linked client earns. A ticket earns stamps only once
   * @min 0
   * @max 1000
   */
  stamps_per_ticket: number;
  /**
   * The reward, such as `A free hem`, or null
   * @minLength 1
   * @maxLength 120
   */
  reward_label: string | null;
}

export interface LoyaltyResponse {
  /** Whether the request succeeded */
  success: true;
  /** A shop's loyalty programme and a client's card */
  data: Loyalty;
}

/** Amounts in minor units, with the currency and its number of decimals */
export interface Money {
  /**
   * The ISO 4217 code of the shop's currency
   * @pattern ^[A-Z]{3}$
   */
  currency: string | null;
  /**
   * How many digits an amount has after the decimal point. With 3, the amount 12500 is 12.500
   * @min 0
   * @max 4
   */
  decimals: number;
  /**
   * The price in minor units, or null if the shop gave no price
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  price_minor: number | null;
  /**
   * The amount already paid, in minor units, or null
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  deposit_minor: number | null;
  /**
   * The price minus the deposit, in minor units. null without a price
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  remaining_minor: number | null;
  /**
   * The price before the client accepted a new one, or null
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  before_minor: number | null;
}

/** NOT_FOUND: The shop has no such resource: the route is unknown, the ticket is another shop's, or the client is unknown to the shop or blocks it */
export interface NotFoundResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "NOT_FOUND";
    /** The cause, in a sentence for people. The text may change */
    message: string;
  };
}

export interface NotifiedInput {
  /** How the shop notified its client */
  channel: ShopChannel;
}

/** The other tickets with the same number */
export interface NumberMeta {
  /**
   * Other tickets with the number, newest first, at most 100
   * @maxItems 100
   */
  others: TicketSummary[];
}

export interface NumberedTicketResponse {
  /** Whether the request succeeded */
  success: true;
  /** Something that a shop repairs or prepares for a client, with its state, its price and its dates */
  data: Ticket;
  /** The other tickets with the same number */
  meta: NumberMeta;
}

/** A part that the shop ordered for the ticket */
export interface Part {
  /**
   * The name of the part
   * @minLength 1
   * @maxLength 200
   */
  label: string;
  /** `ordered` while the part is on its way, then `received` */
  status: PartStatus;
  /**
   * When the shop ordered the part
   * @format date-time
   */
  ordered_at: string;
  /**
   * When the shop expects the part, or null
   * @format date-time
   */
  expected_at: string | null;
  /**
   * When the part arrived, or null
   * @format date-time
   */
  received_at: string | null;
}

/** The app's test button */
export interface PingEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The app's test button */
  type: "ping";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** An empty object */
  data: object;
}

/** PROFANITY: The text in details.field contains a forbidden word */
export interface ProfanityResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "PROFANITY";
    /** The cause, in a sentence for people. The text may change */
    message: string;
    /** With the code PROFANITY */
    details: FieldDetails;
  };
}

/** A new price proposed to the client */
export interface Quote {
  /** `proposed` until the client answers, then the client's answer */
  status: QuoteStatus;
  /**
   * The new price in minor units
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  price_minor: number;
  /**
   * The shop's reason for the new price, or null
   * @minLength 1
   * @maxLength 500
   */
  note: string | null;
  /**
   * When the shop proposed the price
   * @format date-time
   */
  proposed_at: string;
  /**
   * When the client answered, or null
   * @format date-time
   */
  answered_at: string | null;
}

/** The client accepts a new price */
export interface QuoteAcceptedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The client accepts a new price */
  type: "quote.accepted";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The quote as it was after the event */
    quote: Quote;
  };
}

/** The shop proposes a new price */
export interface QuoteProposedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The shop proposes a new price */
  type: "quote.proposed";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The quote as it was after the event */
    quote: Quote;
  };
}

/** The client refuses a new price */
export interface QuoteRefusedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The client refuses a new price */
  type: "quote.refused";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The quote as it was after the event */
    quote: Quote;
  };
}

export type RedeemInput = object;

/** Whether the response repeats an earlier one */
export interface RepeatableMeta {
  /** False in the first response to an Idempotency-Key, true in every repetition */
  replayed: boolean;
}

export interface RepeatableTicketResponse {
  /** Whether the request succeeded */
  success: true;
  /** Something that a shop repairs or prepares for a client, with its state, its price and its dates */
  data: Ticket;
  /** Whether the response repeats an earlier one */
  meta: RepeatableMeta;
}

/** One problem of a request */
export interface RequestIssue {
  /** The part of the request with the problem */
  in: "body" | "query" | "path" | "header";
  /** The dotted path of the field with the problem, such as `items.1.label` */
  field: string;
  /** The problem, and how to correct it */
  message: string;
}

/** The reward that was used, and the card afterwards */
export interface RewardRedeemed {
  /** The card afterwards */
  card: LoyaltyCard;
  /** The reward that was used */
  reward: {
    /** The programme's name for the reward at that time, or null */
    label: string | null;
    /**
     * When the reward was used
     * @format date-time
     */
    redeemed_at: string;
  };
}

export interface RewardResponse {
  /** Whether the request succeeded */
  success: true;
  /** The reward that was used, and the card afterwards */
  data: RewardRedeemed;
  /** Whether the response repeats an earlier one */
  meta: RepeatableMeta;
}

/** With the code FORBIDDEN */
export interface ScopeDetails {
  /** The scope that the key lacks */
  scope: Scope;
}

/** The shop behind the key */
export interface Shop {
  /**
   * The shop's id, which never changes
   * @format uuid
   */
  id: string;
  /** The shop's name */
  name: string;
  /**
   * The ISO 4217 code of the currency of all the shop's amounts
   * @pattern ^[A-Z]{3}$
   */
  currency: string;
  /**
   * How many digits an amount has after the decimal point
   * @min 0
   * @max 4
   */
  decimals: number;
  /** The IANA name of the shop's time zone. Daily limits reset at midnight in this time zone */
  time_zone: string;
  /**
   * The scopes of the key that you used
   * @uniqueItems true
   */
  scopes: Scope[];
}

export interface ShopResponse {
  /** Whether the request succeeded */
  success: true;
  /** The shop behind the key */
  data: Shop;
}

/** How many stamps were added, and the card afterwards */
export interface StampsGiven {
  /** The card afterwards */
  card: LoyaltyCard;
  /**
   * How many stamps were added
   * @min 1
   * @max 10
   */
  added: number;
  /**
   * How many more rewards the client can use because of these stamps
   * @min 0
   */
  rewards_unlocked: number;
}

export interface StampsInput {
  /**
   * How many stamps to add. If they would exceed the day's limit, none are added
   * @min 1
   * @max 10
   */
  count: number;
}

export interface StampsResponse {
  /** Whether the request succeeded */
  success: true;
  /** How many stamps were added, and the card afterwards */
  data: StampsGiven;
  /** Whether the response repeats an earlier one */
  meta: RepeatableMeta;
}

export interface StatusInput {
  /** The state to which the ticket moves */
  status: TicketStatus;
}

/** Something that a shop repairs or prepares for a client, with its state, its price and its dates */
export interface Ticket {
  /**
   * The ticket's id, which never changes
   * @format uuid
   */
  id: string;
  /**
   * The number that the shop writes on the item. After 9999 the numbers start again at 1, so use `id` to identify a ticket
   * @min 1
   * @max 9999
   */
  number: number | null;
  /**
   * The number as printed, with 4 digits
   * @pattern ^[0-9]{4}$
   */
  number_label: string | null;
  /** The ticket's state */
  state: TicketState;
  /** For a collected ticket, `ready` if the work was done and `impossible` if not. null in other states */
  outcome: TicketOutcome | null;
  /** `repair` for work on an item that was brought in, `prepare` for an order to prepare */
  type: TicketType;
  /**
   * The work to do, such as `Resoling`
   * @minLength 1
   * @maxLength 120
   */
  service: string;
  /**
   * The item that was brought in, such as `Brown boots`
   * @minLength 1
   * @maxLength 200
   */
  item: string | null;
  /**
   * A note for the people in the workshop
   * @minLength 1
   * @maxLength 2000
   */
  description: string | null;
  /**
   * The items on this ticket if there are several. Empty for a single item
   * @maxItems 20
   */
  items: TicketItem[];
  /** Price, deposit and what is left to pay */
  money: Money;
  /** The last new price that was proposed to the client, or null */
  quote: Quote | null;
  /**
   * The time by which the shop promised to have the ticket ready
   * @format date-time
   */
  promised_at: string | null;
  /** The last postponement of the promised date, or null */
  delay: Delay | null;
  /** The part that the workshop waits for or has received, or null */
  part: Part | null;
  /** The linked client. null if no client is linked, or if the client blocks the shop */
  client: ClientBadge | null;
  /**
   * The phone number that was given with the ticket, in E.164
   * @pattern ^\+[1-9][0-9]{1,14}$
   */
  client_phone: string | null;
  /**
   * The code on the receipt, by which a client finds the ticket. It has no I, L, O or U, so that it can be read aloud
   * @pattern ^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$
   */
  tracking_code: string | null;
  /**
   * The page on which the client follows the ticket. null if the shop has no such pages
   * @format uri
   */
  tracking_url: string | null;
  /**
   * A picture of the item
   * @format uri
   */
  photo_url: string | null;
  /**
   * When the ticket was created
   * @format date-time
   */
  created_at: string;
  /**
   * When any field of the ticket last changed. Later changes never have an earlier updated_at, so a sync can rely on it
   * @format date-time
   */
  updated_at: string;
  /**
   * When the ticket became ready. null again after it goes back to the workshop
   * @format date-time
   */
  ready_at: string | null;
  /**
   * When the item was collected. null again after the ticket is reopened
   * @format date-time
   */
  collected_at: string | null;
  /**
   * When the service closed the ticket, or null
   * @format date-time
   */
  abandoned_at: string | null;
  /** Why the service closed the ticket, or null */
  abandon_reason: AbandonReason | null;
  /**
   * When the client was last notified, by the app or by the shop, or null
   * @format date-time
   */
  notified_at: string | null;
  /** Whether the ticket was created in the shop's app or through this API */
  created_via: CreatedVia;
  /**
   * Your own reference, by which you can find the ticket
   * @minLength 1
   * @maxLength 64
   */
  external_ref: string | null;
}

/** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days */
export interface TicketAbandonedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days */
  type: "ticket.abandoned";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** Why the service closed the ticket */
    reason: AbandonReason;
  };
}

/** The client picked up their item */
export interface TicketCollectedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The client picked up their item */
  type: "ticket.collected";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: TicketData;
}

/** A ticket is created, in the app or through the API */
export interface TicketCreatedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** A ticket is created, in the app or through the API */
  type: "ticket.created";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: TicketData;
}

/** The ticket at the time of the event */
export interface TicketData {
  /** The ticket as it was after the event */
  ticket: Ticket;
}

/** The ticket is marked not possible */
export interface TicketImpossibleEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The ticket is marked not possible */
  type: "ticket.impossible";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: TicketData;
}

/** A ticket to create */
export interface TicketInput {
  /**
   * The work to do, such as `Resoling`
   * @minLength 1
   * @maxLength 120
   */
  service: string;
  /**
   * `repair` for work on an item that was brought in, `prepare` for an order to prepare
   * @default "repair"
   */
  type?: TicketType | null;
  /**
   * The item that was brought in, such as `Brown boots`
   * @minLength 1
   * @maxLength 200
   */
  item?: string | null;
  /**
   * A note for the people in the workshop
   * @minLength 1
   * @maxLength 2000
   */
  description?: string | null;
  /**
   * The items, if the ticket has several
   * @maxItems 20
   * @minItems 2
   */
  items?: TicketItemInput[] | null;
  /**
   * The id of a client whom the shop knows. The ticket is linked to the client at once
   * @format uuid
   */
  client_id?: string | null;
  /**
   * The phone number to which the ticket is offered, in international format. The response is the same whether or not an account has this number
   * @pattern ^\s*\+.*[0-9]
   */
  client_phone?: string | null;
  /**
   * The price in minor units of the shop's currency
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  price_minor?: number | null;
  /**
   * The amount already paid, in minor units, at most the price
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  deposit_minor?: number | null;
  /**
   * The time by which the shop promised to have the ticket ready
   * @format date-time
   */
  promised_at?: string | null;
  /**
   * Your own reference, by which you can find the ticket
   * @minLength 1
   * @maxLength 64
   */
  external_ref?: string | null;
}

/** One of several items on a ticket */
export interface TicketItem {
  /**
   * The item's id
   * @format uuid
   */
  id: string;
  /**
   * The item, such as `Left boot`
   * @minLength 1
   * @maxLength 200
   */
  label: string;
  /**
   * The work on this item, if it differs from the ticket's service
   * @minLength 1
   * @maxLength 120
   */
  service: string | null;
  /**
   * The item's price in minor units, for information only. The ticket's price is not computed from it
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  price_minor: number | null;
  /** Whether the work on the item is done */
  done: boolean;
}

/** One of several items on a ticket to create */
export interface TicketItemInput {
  /**
   * The item, such as `Left boot`
   * @minLength 1
   * @maxLength 200
   */
  label: string;
  /**
   * The work on this item, if it differs from the ticket's service
   * @minLength 1
   * @maxLength 120
   */
  service?: string | null;
  /**
   * The item's price in minor units, for information only. The ticket's price is not computed from it
   * @format int64
   * @min 0
   * @max 1000000000000
   */
  price_minor?: number | null;
}

export interface TicketListResponse {
  /** Whether the request succeeded */
  success: true;
  /**
   * The result
   * @maxItems 100
   */
  data: Ticket[];
  /** Whether there are more pages, and how to continue */
  meta: ListMeta;
}

/** The ticket is ready */
export interface TicketReadyEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The ticket is ready */
  type: "ticket.ready";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: TicketData;
}

/** The ticket goes back to the workshop */
export interface TicketReopenedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The ticket goes back to the workshop */
  type: "ticket.reopened";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The state before the move */
    from: TicketState;
  };
}

export interface TicketResponse {
  /** Whether the request succeeded */
  success: true;
  /** Something that a shop repairs or prepares for a client, with its state, its price and its dates */
  data: Ticket;
}

/** The main fields of a ticket */
export interface TicketSummary {
  /**
   * The ticket's id, which never changes
   * @format uuid
   */
  id: string;
  /**
   * The requested number
   * @min 1
   * @max 9999
   */
  number: number;
  /**
   * The number as printed, with 4 digits
   * @pattern ^[0-9]{4}$
   */
  number_label: string;
  /** The ticket's state */
  state: TicketState;
  /**
   * When the ticket was created
   * @format date-time
   */
  created_at: string;
}

/** The shop edits the ticket, announces a delay, records a part or adds a photo */
export interface TicketUpdatedEvent {
  /**
   * The event's id, the same at every attempt, so that a receiver can drop duplicates
   * @format uuid
   */
  id: string;
  /** The shop edits the ticket, announces a delay, records a part or adds a photo */
  type: "ticket.updated";
  /**
   * When the event happened
   * @format date-time
   */
  created_at: string;
  /** The version of this API */
  api_version: "1";
  /**
   * The shop in which the event happened
   * @format uuid
   */
  shop_id: string;
  /** The data of this type of event */
  data: {
    /** The ticket as it was after the event */
    ticket: Ticket;
    /** The fields of the ticket that changed */
    changed: (
      | "id"
      | "number"
      | "number_label"
      | "state"
      | "outcome"
      | "type"
      | "service"
      | "item"
      | "description"
      | "items"
      | "money"
      | "quote"
      | "promised_at"
      | "delay"
      | "part"
      | "client"
      | "client_phone"
      | "tracking_code"
      | "tracking_url"
      | "photo_url"
      | "created_at"
      | "updated_at"
      | "ready_at"
      | "collected_at"
      | "abandoned_at"
      | "abandon_reason"
      | "notified_at"
      | "created_via"
      | "external_ref"
    )[];
  };
}

/** TOO_MANY_ATTEMPTS: The limit in details.limit is used up. Wait RateLimit-Reset seconds */
export interface TooManyAttemptsResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "TOO_MANY_ATTEMPTS";
    /** The cause, in a sentence for people. The text may change */
    message: string;
    /** With the code TOO_MANY_ATTEMPTS */
    details: LimitDetails;
  };
}

/** UNAUTHENTICATED: The key is missing, wrong, revoked or expired */
export interface UnauthenticatedResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "UNAUTHENTICATED";
    /** The cause, in a sentence for people. The text may change */
    message: string;
  };
}

/** UNAVAILABLE: The store cannot be reached or has no free connection, or the service has too many requests. Try again after Retry-After seconds */
export interface UnavailableResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "UNAVAILABLE";
    /** The cause, in a sentence for people. The text may change */
    message: string;
  };
}

/** VALIDATION_ERROR: The body or a parameter is invalid. details.issues lists what to change */
export interface ValidationErrorResponse {
  /** Whether the request succeeded */
  success: false;
  /** Why the request failed */
  error: {
    /** The cause, in a form for programs */
    code: "VALIDATION_ERROR";
    /** The cause, in a sentence for people. The text may change */
    message: string;
    /** With the code VALIDATION_ERROR */
    details: IssueDetails;
  };
}

export type QueryParamsType = Record<string | number, any>;
export type ResponseFormat = keyof Omit<Body, "body" | "bodyUsed">;

export interface FullRequestParams extends Omit<RequestInit, "body"> {
  /** set parameter to `true` for call `securityWorker` for this request */
  secure?: boolean;
  /** request path */
  path: string;
  /** content type of request body */
  type?: ContentType;
  /** query params */
  query?: QueryParamsType;
  /** format of response (i.e. response.json() -> format: "json") */
  format?: ResponseFormat;
  /** request body */
  body?: unknown;
  /** base url */
  baseUrl?: string;
  /** request cancellation token */
  cancelToken?: CancelToken;
}

export type RequestParams = Omit<
  FullRequestParams,
  "body" | "method" | "query" | "path"
>;

export interface ApiConfig<SecurityDataType = unknown> {
  baseUrl?: string;
  baseApiParams?: Omit<RequestParams, "baseUrl" | "cancelToken" | "signal">;
  securityWorker?: (
    securityData: SecurityDataType | null,
  ) => Promise<RequestParams | void> | RequestParams | void;
  customFetch?: typeof fetch;
}

export interface HttpResponse<D extends unknown, E extends unknown = unknown>
  extends Response {
  data: D;
  error: E;
}

type CancelToken = Symbol | string | number;

export type ContentType =
  | "application/json"
  | "application/vnd.api+json"
  | "multipart/form-data"
  | "application/x-www-form-urlencoded"
  | "text/plain";

export class HttpClient<SecurityDataType = unknown> {
  public baseUrl: string = "http://127.0.0.1:4010";
  private securityData: SecurityDataType | null = null;
  private securityWorker?: ApiConfig<SecurityDataType>["securityWorker"];
  private abortControllers = new Map<CancelToken, AbortController>();
  private customFetch = (...fetchParams: Parameters<typeof fetch>) =>
    fetch(...fetchParams);

  private baseApiParams: RequestParams = {
    credentials: "same-origin",
    headers: {},
    redirect: "follow",
    referrerPolicy: "no-referrer",
  };

  constructor(apiConfig: ApiConfig<SecurityDataType> = {}) {
    Object.assign(this, apiConfig);
  }

  public setSecurityData = (data: SecurityDataType | null) => {
    this.securityData = data;
  };

  protected encodeQueryParam(key: string, value: any) {
    const encodedKey = encodeURIComponent(key);
    return `${encodedKey}=${encodeURIComponent(typeof value === "number" ? value : `${value}`)}`;
  }

  protected addQueryParam(query: QueryParamsType, key: string) {
    return this.encodeQueryParam(key, query[key]);
  }

  protected addArrayQueryParam(query: QueryParamsType, key: string) {
    const value = query[key];
    return value.map((v: any) => this.encodeQueryParam(key, v)).join("&");
  }

  protected toQueryString(rawQuery?: QueryParamsType): string {
    const query = rawQuery || {};
    const keys = Object.keys(query).filter(
      (key) => "undefined" !== typeof query[key],
    );
    return keys
      .map((key) =>
        Array.isArray(query[key])
          ? this.addArrayQueryParam(query, key)
          : this.addQueryParam(query, key),
      )
      .join("&");
  }

  protected addQueryParams(rawQuery?: QueryParamsType): string {
    const queryString = this.toQueryString(rawQuery);
    return queryString ? `?${queryString}` : "";
  }

  private contentFormatters: Record<ContentType, (input: any) => any> = {
    ["application/json"]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    ["application/vnd.api+json"]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    ["text/plain"]: (input: any) =>
      input !== null && typeof input !== "string"
        ? JSON.stringify(input)
        : input,
    ["multipart/form-data"]: (input: any) => {
      if (input instanceof FormData) {
        return input;
      }

      return Object.keys(input || {}).reduce((formData, key) => {
        const property = input[key];
        formData.append(
          key,
          property instanceof Blob
            ? property
            : typeof property === "object" && property !== null
              ? JSON.stringify(property)
              : `${property}`,
        );
        return formData;
      }, new FormData());
    },
    ["application/x-www-form-urlencoded"]: (input: any) =>
      this.toQueryString(input),
  };

  protected mergeRequestParams(
    params1: RequestParams,
    params2?: RequestParams,
  ): RequestParams {
    return {
      ...this.baseApiParams,
      ...params1,
      ...(params2 || {}),
      headers: {
        ...(this.baseApiParams.headers || {}),
        ...(params1.headers || {}),
        ...((params2 && params2.headers) || {}),
      },
    };
  }

  protected createAbortSignal = (
    cancelToken: CancelToken,
  ): AbortSignal | undefined => {
    if (this.abortControllers.has(cancelToken)) {
      const abortController = this.abortControllers.get(cancelToken);
      if (abortController) {
        return abortController.signal;
      }
      return void 0;
    }

    const abortController = new AbortController();
    this.abortControllers.set(cancelToken, abortController);
    return abortController.signal;
  };

  public abortRequest = (cancelToken: CancelToken) => {
    const abortController = this.abortControllers.get(cancelToken);

    if (abortController) {
      abortController.abort();
      this.abortControllers.delete(cancelToken);
    }
  };

  public request = async <T = any, E = any>({
    body,
    secure,
    path,
    type,
    query,
    format,
    baseUrl,
    cancelToken,
    ...params
  }: FullRequestParams): Promise<HttpResponse<T, E>> => {
    const secureParams =
      ((typeof secure === "boolean" ? secure : this.baseApiParams.secure) &&
        this.securityWorker &&
        (await this.securityWorker(this.securityData))) ||
      {};
    const requestParams = this.mergeRequestParams(params, secureParams);
    const queryString = query && this.toQueryString(query);
    const payloadFormatter = this.contentFormatters[type || "application/json"];
    const responseFormat = format || requestParams.format;

    return this.customFetch(
      `${baseUrl || this.baseUrl || ""}${path}${queryString ? `?${queryString}` : ""}`,
      {
        ...requestParams,
        headers: {
          ...(requestParams.headers || {}),
          ...(type && type !== "multipart/form-data"
            ? { "Content-Type": type }
            : {}),
        },
        signal:
          (cancelToken
            ? this.createAbortSignal(cancelToken)
            : requestParams.signal) || null,
        body:
          typeof body === "undefined" || body === null
            ? null
            : payloadFormatter(body),
      },
    ).then(async (response) => {
      const r = response as HttpResponse<T, E>;
      r.data = null as unknown as T;
      r.error = null as unknown as E;

      const responseToParse = responseFormat ? response.clone() : response;
      const data = !responseFormat
        ? r
        : await responseToParse[responseFormat]()
            .then((data) => {
              if (r.ok) {
                r.data = data;
              } else {
                r.error = data;
              }
              return r;
            })
            .catch((e) => {
              r.error = e;
              return r;
            });

      if (cancelToken) {
        this.abortControllers.delete(cancelToken);
      }

      if (!response.ok) throw data;
      return data;
    });
  };
}

/**
 * @title Workshop Ticket Service
 * @version 1
 * @license MIT
 * @baseUrl http://127.0.0.1:4010
 *
 * A shop's till, ERP or online shop creates workshop tickets, moves them from state to state, looks up clients and adds stamps to their loyalty cards. Each API key gives access to one shop only.
 *
 * ## Requests and responses
 *
 * Send the key as `Authorization: Bearer <key>` and bodies as `application/json`. Every response is an envelope: `success` true with `data` (and sometimes `meta`), or `success` false with `error`. A field or parameter that is unknown, or is given twice, is refused, and the error names it. `null` for an optional field of a body means that it is absent. Responses may get new fields, so ignore fields that you do not know.
 *
 * `HEAD` gets the response of `GET` without the body. With a valid key, an unknown path or method is a 404 `NOT_FOUND`.
 *
 * Amounts are whole numbers of the currency's minor unit. Instants are ISO 8601 in UTC with milliseconds.
 *
 * ## How a ticket moves
 *
 * | state | meaning |
 * | --- | --- |
 * | `workshop` | The item is in the workshop, and somebody is working on it |
 * | `ready` | The work is done; the client can pick up the item |
 * | `impossible` | The work cannot be done; the client can pick up the item as it is |
 * | `collected` | The client took the item back; `outcome` says whether the work was done |
 * | `abandoned` | The service closed the ticket; `abandon_reason` says why. This state is final |
 *
 * | from | to | made by | when | event | effects |
 * | --- | --- | --- | --- | --- | --- |
 * | – | `workshop` | `POST /v1/tickets` |  | `ticket.created` |  |
 * | `workshop` | `ready` | `POST /v1/tickets/{id}/status` with `ready` |  | `ticket.ready` | sets `ready_at`; a linked client is notified in the app; a client without an account is notified through the operator's own channel, if one is set; the ticket earns loyalty stamps, unless it earned them before |
 * | `workshop` | `impossible` | `POST /v1/tickets/{id}/status` with `impossible` |  | `ticket.impossible` | a linked client is notified in the app; a client without an account is notified through the operator's own channel, if one is set |
 * | `ready` | `collected` | `POST /v1/tickets/{id}/status` with `collected` |  | `ticket.collected` | sets `collected_at`; `outcome` is `ready`; the ticket earns loyalty stamps, unless it earned them before |
 * | `impossible` | `collected` | `POST /v1/tickets/{id}/status` with `collected` |  | `ticket.collected` | sets `collected_at`; `outcome` is `impossible` |
 * | `ready` | `workshop` | `POST /v1/tickets/{id}/status` with `workshop` |  | `ticket.reopened` | clears `ready_at`, `collected_at`, `outcome` |
 * | `impossible` | `workshop` | `POST /v1/tickets/{id}/status` with `workshop` |  | `ticket.reopened` | clears `ready_at`, `collected_at`, `outcome` |
 * | `collected` | `workshop` | `POST /v1/tickets/{id}/status` with `workshop` | at most 24 hours after collection | `ticket.reopened` | clears `ready_at`, `collected_at`, `outcome` |
 * | `ready` | `abandoned` | the service | 60 days after it became ready | `ticket.abandoned` | `abandon_reason` is `uncollected` |
 * | `workshop` | `abandoned` | the service | 60 days after the shop's last change to it | `ticket.abandoned` | `abandon_reason` is `no_news` |
 *
 * Every other move is a 409, whose `details.allowed` lists the statuses that the ticket accepts. Every 409 of a ticket except `IDEMPOTENCY_KEY_REUSED` has the ticket's present `details.state` and `details.updated_at`.
 *
 * ## Repeating a request
 *
 * The operations that take an `Idempotency-Key` may be repeated with the same key for 30 days. The repeated request gets the first response's `data` with `meta.replayed` true and the header `Idempotent-Replayed`. The service does not remember refusals, so a corrected request may use the same key. After a success, a different request with the same key is a 409. The key is optional for changing a status and for recording a notification.
 *
 * ## Limits
 *
 * | policy | at most | per | window |
 * | --- | --- | --- | --- |
 * | `requests_per_minute` | 120 requests | key | minute |
 * | `writes_per_minute` | 30 write operations | key | minute |
 * | `tickets_per_hour` | 150 tickets (app and API together) | shop | hour |
 * | `tickets_per_day` | 600 tickets (app and API together) | shop | day of the shop |
 * | `lookups_per_hour` | 60 look-ups by phone number | shop | hour |
 * | `lookups_per_day` | 300 look-ups by phone number | shop | day of the shop |
 * | `stamps_per_day` | 20 stamps added | client and key | day of the shop |
 * | `moves_per_day` | 100 changes of state | ticket | day of the shop |
 * | `notifications_per_day` | 50 notifications of the client | ticket | day of the shop |
 * | `unauthenticated_per_minute` | 120 requests without a valid key | address | minute |
 * | `tracking_per_minute` | 60 requests for tracking pages | address | minute |
 *
 * Minutes and hours start with the first use. A request beyond a limit gets a 429: `details.limit` names the policy, and `Retry-After` says how many seconds to wait. Only a 503, and a response to bytes that are not HTTP, may lack the `RateLimit-*` headers.
 *
 * ## Events
 *
 * A shop's webhook receives these events. Each is signed. The section Webhooks has the details.
 *
 * | type | sent when |
 * | --- | --- |
 * | `ticket.created` | A ticket is created, in the app or through the API |
 * | `ticket.ready` | The ticket is ready |
 * | `ticket.impossible` | The ticket is marked not possible |
 * | `ticket.reopened` | The ticket goes back to the workshop |
 * | `ticket.collected` | The client picked up their item |
 * | `ticket.abandoned` | The ticket closed: ready and never collected, or left in the workshop without news, for 60 days |
 * | `client.notified` | The client was notified in the app, by SMS, by WhatsApp or by a call |
 * | `client.linked` | A client is linked to the ticket |
 * | `ticket.updated` | The shop edits the ticket, announces a delay, records a part or adds a photo |
 * | `quote.proposed` | The shop proposes a new price |
 * | `quote.accepted` | The client accepts a new price |
 * | `quote.refused` | The client refuses a new price |
 * | `ping` | The app's test button |
 */
export class Api<
  SecurityDataType extends unknown,
> extends HttpClient<SecurityDataType> {
  v1 = {
    /**
     * @description Use this call to test a key and the connection. Any API key is accepted.
     *
     * @tags Shop
     * @name GetShop
     * @summary Read the shop behind the key
     * @request GET:/v1/shop
     * @secure
     */
    getShop: (params: RequestParams = {}) =>
      this.request<
        ShopResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/shop`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Creates a ticket in the workshop with the shop's next number. The first response is 201. A repeated request with the same `Idempotency-Key` gets 200 with the ticket of the first response and `meta.replayed` true. Requires the scope `tickets:write` (create tickets and change their state).
     *
     * @tags Tickets
     * @name CreateTicket
     * @summary Create a ticket
     * @request POST:/v1/tickets
     * @secure
     */
    createTicket: (data: TicketInput, params: RequestParams = {}) =>
      this.request<
        RepeatableTicketResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | ConflictResponse
        | ProfanityResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * @description A ticket must match all given filters. Without `updated_since` the newest tickets come first. With it, changes come in the order in which they happened: follow `next_cursor` to the end, then save `meta.synced_until` as the next `updated_since`, so that you do not miss a change. Requires the scope `tickets:read` (read tickets).
     *
     * @tags Tickets
     * @name ListTickets
     * @summary List, filter and sync tickets
     * @request GET:/v1/tickets
     * @secure
     */
    listTickets: (
      query?: {
        /**
         * Return only tickets in one of these states, separated by commas. `state=a&state=b` means the same
         * @minItems 1
         * @example ["workshop","ready"]
         */
        state?: TicketState[];
        /**
         * Return only tickets with this number
         * @min 1
         * @max 9999
         * @example 42
         */
        number?: number;
        /**
         * How many tickets a page has at most. A value out of range is refused, not clamped
         * @min 1
         * @max 100
         * @default 50
         * @example 50
         */
        limit?: number;
        /**
         * Return only tickets that are linked to this client
         * @format uuid
         * @example "0198c5f2-4c01-7000-9e27-c1a05b7d3f88"
         */
        client_id?: string;
        /**
         * A phone number in international format. An unescaped `+` arrives as a space and is read as `+`
         * @example "+21620123456"
         */
        phone?: string;
        /**
         * Return only tickets with this external reference
         * @minLength 1
         * @maxLength 64
         * @example "POS-2026-1182"
         */
        external_ref?: string;
        /**
         * Return only the ticket with this tracking code, as a person types it from a receipt. Case and hyphens do not matter, O is read as 0, and I and L are read as 1
         * @example "7k3m-q9xd"
         */
        tracking_code?: string;
        /**
         * Return only tickets created at this instant or later. A date without a time means 00:00 UTC
         * @example "2026-11-01"
         */
        created_after?: string;
        /**
         * Return only tickets created before this instant. A date without a time means 00:00 UTC
         * @example "2026-12-01"
         */
        created_before?: string;
        /**
         * Return only tickets that changed at this instant or later. An unescaped `+` arrives as a space and is read as `+`. The list is then in the order of changes, oldest first, and `meta.synced_until` is the `updated_since` for the next sync
         * @example "2026-11-20T10:20:42.123Z"
         */
        updated_since?: string;
        /**
         * The `next_cursor` of the previous page. Send the same filters again; only `limit` may differ
         * @maxLength 2048
         * @example "MTc5NTE3MDA0MjEyMyAwMTk4YzVmMg.9f2c6a1be07d4358"
         */
        cursor?: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        TicketListResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Returns the ticket in its current state. Requires the scope `tickets:read` (read tickets).
     *
     * @tags Tickets
     * @name GetTicket
     * @summary Read a ticket
     * @request GET:/v1/tickets/{id}
     * @secure
     */
    getTicket: (id: string, params: RequestParams = {}) =>
      this.request<
        TicketResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets/${id}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Returns the newest open ticket with this number, or the newest of all if none is open. Numbers are used again after 9999, so `meta.others` lists the other tickets with the number. Requires the scope `tickets:read` (read tickets).
     *
     * @tags Tickets
     * @name GetTicketByNumber
     * @summary Read a ticket by its number
     * @request GET:/v1/tickets/by-number/{n}
     * @secure
     */
    getTicketByNumber: (n: number, params: RequestParams = {}) =>
      this.request<
        NumberedTicketResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets/by-number/${n}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Makes one of the moves in the table of this document's introduction. If the move is refused, `details.allowed` lists the statuses that the ticket accepts. A linked client is notified in the app. Requires the scope `tickets:write` (create tickets and change their state).
     *
     * @tags Tickets
     * @name ChangeTicketStatus
     * @summary Move a ticket to another state
     * @request POST:/v1/tickets/{id}/status
     * @secure
     */
    changeTicketStatus: (
      id: string,
      data: StatusInput,
      params: RequestParams = {},
    ) =>
      this.request<
        RepeatableTicketResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | ConflictResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets/${id}/status`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * @description Use this after the shop itself called or wrote to its client. It sets `notified_at`, which the client's page shows. It counts as a change by the shop, so the sixty days of a ticket in the workshop start again. Requires the scope `tickets:write` (create tickets and change their state).
     *
     * @tags Tickets
     * @name RecordNotified
     * @summary Record that the client was notified
     * @request POST:/v1/tickets/{id}/notified
     * @secure
     */
    recordNotified: (
      id: string,
      data: NotifiedInput,
      params: RequestParams = {},
    ) =>
      this.request<
        RepeatableTicketResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | ConflictResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/tickets/${id}/notified`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * @description Finds only clients known to the shop: those who accepted an offer or came to the counter. An unknown number and the number of a client who blocks the shop get the same 404. Requires the scope `clients:read` (find a client and read their loyalty card).
     *
     * @tags Clients
     * @name FindClient
     * @summary Find a client by phone number
     * @request GET:/v1/clients
     * @secure
     */
    findClient: (
      query: {
        /**
         * A phone number in international format. An unescaped `+` arrives as a space and is read as `+`
         * @example "+21620123456"
         */
        phone: string;
      },
      params: RequestParams = {},
    ) =>
      this.request<
        ClientResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/clients`,
        method: "GET",
        query: query,
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description The client's name in the form that the client chose, their number of tickets with the shop, and their loyalty card. Requires the scope `clients:read` (find a client and read their loyalty card).
     *
     * @tags Clients
     * @name GetClient
     * @summary Read a client
     * @request GET:/v1/clients/{id}
     * @secure
     */
    getClient: (id: string, params: RequestParams = {}) =>
      this.request<
        ClientResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/clients/${id}`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Returns the shop's programme and the client's card. Both can be read while the programme is off. Requires the scope `clients:read` (find a client and read their loyalty card).
     *
     * @tags Clients
     * @name GetLoyalty
     * @summary Read a loyalty card
     * @request GET:/v1/clients/{id}/loyalty
     * @secure
     */
    getLoyalty: (id: string, params: RequestParams = {}) =>
      this.request<
        LoyaltyResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/clients/${id}/loyalty`,
        method: "GET",
        secure: true,
        format: "json",
        ...params,
      }),

    /**
     * @description Adds all the stamps, or none if they would exceed the day's limit for this client and key. Stamps that tickets earn do not count towards the limit. A repeated request with the same `Idempotency-Key` adds no stamps. Requires the scope `loyalty:write` (add stamps and use a reward).
     *
     * @tags Clients
     * @name AddStamps
     * @summary Add stamps to a card
     * @request POST:/v1/clients/{id}/loyalty/stamps
     * @secure
     */
    addStamps: (id: string, data: StampsInput, params: RequestParams = {}) =>
      this.request<
        StampsResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | ConflictResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/clients/${id}/loyalty/stamps`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),

    /**
     * @description Spends the stamps of one reward. Omit the body, or send an empty object. A repeated request with the same `Idempotency-Key` uses no further reward. Requires the scope `loyalty:write` (add stamps and use a reward).
     *
     * @tags Clients
     * @name RedeemReward
     * @summary Use a reward
     * @request POST:/v1/clients/{id}/loyalty/redeem
     * @secure
     */
    redeemReward: (
      id: string,
      data?: RedeemInput,
      params: RequestParams = {},
    ) =>
      this.request<
        RewardResponse,
        | ValidationErrorResponse
        | UnauthenticatedResponse
        | ForbiddenResponse
        | NotFoundResponse
        | ConflictResponse
        | TooManyAttemptsResponse
        | InternalResponse
        | UnavailableResponse
      >({
        path: `/v1/clients/${id}/loyalty/redeem`,
        method: "POST",
        body: data,
        secure: true,
        type: "application/json",
        format: "json",
        ...params,
      }),
  };
}
