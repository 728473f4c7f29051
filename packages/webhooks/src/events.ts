// Written by `npm run codegen` from the schemas in packages/core/src; change those instead.

/** Ready and never collected, or in the workshop without news from the shop. */
export type AbandonReason = "uncollected" | "no_news"

/** The client linked to the ticket. */
export interface ClientBadge {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name as the client wishes it shown: in full, or the given name with an initial. */
  readonly display_name: string | null
}

/** A client is linked to the ticket. */
export interface ClientLinkedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** A client is linked to the ticket. */
  readonly type: "client.linked"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The client who is linked now. */
    readonly client: ClientBadge
  }
}

/** The client was notified in the app, by SMS, by WhatsApp or by a call. */
export interface ClientNotifiedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client was notified in the app, by SMS, by WhatsApp or by a call. */
  readonly type: "client.notified"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** How the client was notified. */
    readonly channel: NotifiedChannel
    /** When the client was notified (ISO 8601, UTC). */
    readonly notified_at: string
  }
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

/** The body of a delivery. More types will come: answer 2xx to those that you do not know. */
export type Event = TicketCreatedEvent | TicketReadyEvent | TicketImpossibleEvent | TicketReopenedEvent | TicketCollectedEvent | TicketAbandonedEvent | ClientNotifiedEvent | ClientLinkedEvent | TicketUpdatedEvent | QuoteProposedEvent | QuoteAcceptedEvent | QuoteRefusedEvent | PingEvent

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

/** How the client was notified. */
export type NotifiedChannel = "app" | "sms" | "whatsapp" | "call"

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

/** The app's test button. */
export interface PingEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The app's test button. */
  readonly type: "ping"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** Nothing. */
  readonly data: {
  }
}

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

/** The client accepts a new price. */
export interface QuoteAcceptedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client accepts a new price. */
  readonly type: "quote.accepted"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The quote as it was after the event. */
    readonly quote: Quote
  }
}

/** The shop proposes a new price. */
export interface QuoteProposedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The shop proposes a new price. */
  readonly type: "quote.proposed"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The quote as it was after the event. */
    readonly quote: Quote
  }
}

/** The client refuses a new price. */
export interface QuoteRefusedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client refuses a new price. */
  readonly type: "quote.refused"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The quote as it was after the event. */
    readonly quote: Quote
  }
}

/** Waiting for the client, or how they answered. */
export type QuoteStatus = "proposed" | "accepted" | "refused"

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

/** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days. */
export interface TicketAbandonedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days. */
  readonly type: "ticket.abandoned"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** Why the service closed it. */
    readonly reason: AbandonReason
  }
}

/** The client picked up their item. */
export interface TicketCollectedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client picked up their item. */
  readonly type: "ticket.collected"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
}

/** A ticket is created, in the app or through the API. */
export interface TicketCreatedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** A ticket is created, in the app or through the API. */
  readonly type: "ticket.created"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
}

/** The ticket at that time. */
export interface TicketData {
  /** The ticket as it was after the event. */
  readonly ticket: Ticket
}

/** The ticket is marked not possible. */
export interface TicketImpossibleEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket is marked not possible. */
  readonly type: "ticket.impossible"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
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

/** Of a collected ticket: whether the work was done. */
export type TicketOutcome = "ready" | "impossible"

/** The ticket is ready. */
export interface TicketReadyEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket is ready. */
  readonly type: "ticket.ready"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
}

/** The ticket goes back to the workshop. */
export interface TicketReopenedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket goes back to the workshop. */
  readonly type: "ticket.reopened"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The state before the move. */
    readonly from: TicketState
  }
}

/** The state of a ticket. */
export type TicketState = "workshop" | "ready" | "impossible" | "collected" | "abandoned"

/** Work on something brought in, or an order to get ready. */
export type TicketType = "repair" | "prepare"

/** The shop edits the ticket, announces a delay, records a part or adds a photo. */
export interface TicketUpdatedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The shop edits the ticket, announces a delay, records a part or adds a photo. */
  readonly type: "ticket.updated"
  /** When it happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop it happened in. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The fields of the ticket that are different now. */
    readonly changed: ReadonlyArray<"id" | "number" | "number_label" | "state" | "outcome" | "type" | "service" | "item" | "description" | "items" | "money" | "quote" | "promised_at" | "delay" | "part" | "client" | "client_phone" | "tracking_code" | "tracking_url" | "photo_url" | "created_at" | "updated_at" | "ready_at" | "collected_at" | "abandoned_at" | "abandon_reason" | "notified_at" | "created_via" | "external_ref">
  }
}
