// Written by `npm run codegen` from the schemas in packages/core/src; change those instead.

/** `uncollected` if the item was ready and never collected, `no_news` if the shop changed nothing while it was in the workshop. */
export type AbandonReason = "uncollected" | "no_news"

/** The client linked to the ticket. */
export interface ClientBadge {
  /** The client's id, the same in every shop that knows them. */
  readonly id: string
  /** The name in the form that the client chose: the full name, or the given name with the initial of the family name. */
  readonly display_name: string | null
}

/** A client is linked to the ticket. */
export interface ClientLinkedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** A client is linked to the ticket. */
  readonly type: "client.linked"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The client who was linked. */
    readonly client: ClientBadge
  }
}

/** The client was notified in the app, by SMS, by WhatsApp or by a call. */
export interface ClientNotifiedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client was notified in the app, by SMS, by WhatsApp or by a call. */
  readonly type: "client.notified"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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
  /** When the shop postponed the date (ISO 8601, UTC). */
  readonly announced_at: string
}

/** The body of a delivery. New types will be added, so respond 2xx to events with an unknown type. */
export type Event = TicketCreatedEvent | TicketReadyEvent | TicketImpossibleEvent | TicketReopenedEvent | TicketCollectedEvent | TicketAbandonedEvent | ClientNotifiedEvent | ClientLinkedEvent | TicketUpdatedEvent | QuoteProposedEvent | QuoteAcceptedEvent | QuoteRefusedEvent | PingEvent

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

/** How the client was notified. */
export type NotifiedChannel = "app" | "sms" | "whatsapp" | "call"

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

/** The app's test button. */
export interface PingEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The app's test button. */
  readonly type: "ping"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** An empty object. */
  readonly data: {
  }
}

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

/** The client accepts a new price. */
export interface QuoteAcceptedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client accepts a new price. */
  readonly type: "quote.accepted"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The quote as it was after the event. */
    readonly quote: Quote
  }
}

/** `proposed` until the client answers, then the client's answer. */
export type QuoteStatus = "proposed" | "accepted" | "refused"

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

/** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days. */
export interface TicketAbandonedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket closed: ready and never collected, or left in the workshop without news, for 60 days. */
  readonly type: "ticket.abandoned"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** Why the service closed the ticket. */
    readonly reason: AbandonReason
  }
}

/** The client picked up their item. */
export interface TicketCollectedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The client picked up their item. */
  readonly type: "ticket.collected"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
}

/** The ticket at the time of the event. */
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
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: TicketData
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

/** For a collected ticket, whether the work was done. */
export type TicketOutcome = "ready" | "impossible"

/** The ticket is ready. */
export interface TicketReadyEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The ticket is ready. */
  readonly type: "ticket.ready"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
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

/** `repair` for work on an item that was brought in, `prepare` for an order to prepare. */
export type TicketType = "repair" | "prepare"

/** The shop edits the ticket, announces a delay, records a part or adds a photo. */
export interface TicketUpdatedEvent {
  /** The event's id, the same at every attempt, so that a receiver can drop duplicates. */
  readonly id: string
  /** The shop edits the ticket, announces a delay, records a part or adds a photo. */
  readonly type: "ticket.updated"
  /** When the event happened (ISO 8601, UTC). */
  readonly created_at: string
  /** The version of this API. */
  readonly api_version: "1"
  /** The shop in which the event happened. */
  readonly shop_id: string
  /** The data of this type of event. */
  readonly data: {
    /** The ticket as it was after the event. */
    readonly ticket: Ticket
    /** The fields of the ticket that changed. */
    readonly changed: ReadonlyArray<"id" | "number" | "number_label" | "state" | "outcome" | "type" | "service" | "item" | "description" | "items" | "money" | "quote" | "promised_at" | "delay" | "part" | "client" | "client_phone" | "tracking_code" | "tracking_url" | "photo_url" | "created_at" | "updated_at" | "ready_at" | "collected_at" | "abandoned_at" | "abandon_reason" | "notified_at" | "created_via" | "external_ref">
  }
}
