import type * as Named from "@workshop/client"

/*
 * The inputs of the Promise API as plain values, with a sentence for each field. An optional field may be undefined, so that
 * `client_phone: input.phone` compiles where TypeScript's exactOptionalPropertyTypes is on.
 */

/** The caller of a method, as plain values. */
export interface PlainCaller {
  /** The shop for which the call is made. */
  readonly shop_id: string
  /** Your id for the caller, any text of up to 80 characters. Idempotency keys and the limit on stamps apply to each id. */
  readonly caller_id: string
  /** The scopes of the caller. Mounts check them; methods that you call yourself do not. */
  readonly scopes: ReadonlyArray<Named.Scope>
  /** Whether tickets count as created in the shop's app or through the API. */
  readonly via: "app" | "api"
  /** Whether the limits of the shop, the client and the ticket neither count nor refuse the call; false by default (Specification, Limits). */
  readonly uncounted?: boolean | undefined
}

/** A new ticket (Specification, Endpoints). */
export interface PlainTicket extends Named.TicketInput {}

/** The changes of a ticket: an absent field stays as it is, and null clears it (Specification, Tickets). */
export interface PlainTicketEdit
  extends Pick<
    Named.TicketInput,
    "item" | "description" | "price_minor" | "deposit_minor" | "promised_at" | "external_ref"
  > {
  /** The work to do (1 to 120 characters). */
  readonly service?: string | undefined
  /** The items to mark as done or not done, by their ids. */
  readonly items_done?: ReadonlyArray<{ readonly id: string; readonly done: boolean }> | undefined
}

/** The filter and order of a list of tickets (Specification, Lists and sync). */
export interface PlainTicketQuery {
  /** Only tickets in one of these states. */
  readonly state?: Named.TicketState | ReadonlyArray<Named.TicketState> | null | undefined
  /** Only tickets with this printed number, from 1 to `Limits.ticket_number_max`. */
  readonly number?: number | null | undefined
  /** The maximum number of tickets on a page, 1 to 100; 50 by default. */
  readonly limit?: number | null | undefined
  /** Only tickets of this client. */
  readonly client_id?: string | null | undefined
  /** Only tickets of the client with this telephone number. */
  readonly phone?: string | null | undefined
  /** Only tickets with this reference of yours. */
  readonly external_ref?: string | null | undefined
  /** Only the ticket with this tracking code. */
  readonly tracking_code?: string | null | undefined
  /** Only tickets created at this instant or later (ISO 8601). */
  readonly created_after?: string | null | undefined
  /** Only tickets created before this instant (ISO 8601). */
  readonly created_before?: string | null | undefined
  /** Only tickets that changed since this instant, in the order of changes, for a sync. */
  readonly updated_since?: string | null | undefined
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | null | undefined
}

/** A later date for a ticket. */
export interface PlainDelay {
  /** The new date by which the shop promises to be ready (ISO 8601). */
  readonly promised_at: string
  /** The reason, which the client sees. */
  readonly reason?: string | null | undefined
}

/** A part that a ticket waits for. */
export interface PlainPart {
  /** The name of the part, such as `Zip, 60 cm`. */
  readonly label: string
  /** Whether it is ordered or was received. */
  readonly status: Named.PartStatus
  /** When it is expected (ISO 8601). */
  readonly expected_at?: string | null | undefined
}

/** A picture for a ticket. */
export interface PlainPhoto {
  /** The https address of the picture. */
  readonly photo_url: string
}

/** A new price for a ticket (Specification, Tickets). */
export interface PlainQuote {
  /** The proposed price in minor units of the shop's currency. */
  readonly price_minor: number
  /** The reason for the price, which the client sees. */
  readonly note?: string | null | undefined
}

/** A new client's account (Specification, Clients and loyalty). */
export interface PlainClient {
  /** The first name, which shops see (1 to 120 characters). */
  readonly given_name: string
  /** The family name (1 to 120 characters). Shops see it in full, or only its initial if `hide_name` is set. */
  readonly family_name: string
  /** The telephone number in international format, by which offers find the account. */
  readonly phone: string
  /** Whether shops see only the first name and an initial, such as `Amira B.`; false by default. */
  readonly hide_name?: boolean | null | undefined
}

/** The corrections of a client's account: an absent field stays as it is. */
export interface PlainCorrection {
  /** The corrected first name. */
  readonly given_name?: string | null | undefined
  /** The corrected family name. */
  readonly family_name?: string | null | undefined
  /** The new telephone number in international format. */
  readonly phone?: string | null | undefined
  /** Whether shops see only the first name and an initial, such as `Amira B.`. */
  readonly hide_name?: boolean | null | undefined
}

/** A new shop. */
export interface PlainShop {
  /** The name that clients see. */
  readonly name: string
  /** The code of the currency, such as `EUR`; it cannot be changed later. */
  readonly currency: string
  /** The number of decimals of amounts; by default the currency's, such as 2 for EUR. It cannot be changed later. */
  readonly decimals?: number | null | undefined
  /** The IANA time zone in which the shop's days begin, such as `Europe/Paris`. */
  readonly time_zone: string
  /** The address of the shop's own tracking pages; the default is the option `trackingBaseUrl`. */
  readonly tracking_base_url?: string | null | undefined
  /** The languages of the words that tickets may not contain, such as `["fr", "en"]`. By default English, French and the language of the time zone. */
  readonly languages?: ReadonlyArray<string> | null | undefined
}

/** The changes of a shop's settings: an absent field stays as it is. */
export interface PlainShopPatch {
  /** Whether the operator approved the shop; its API is closed until then. */
  readonly approved?: boolean | null | undefined
  /** Whether the shop's account is active. */
  readonly active?: boolean | null | undefined
  /** Whether the owner has turned the API on. */
  readonly api_enabled?: boolean | null | undefined
  /** The changes of the loyalty program. */
  readonly program?: PlainProgramPatch | null | undefined
  /** The number of the next ticket, from 1 to `Limits.ticket_number_max`. */
  readonly next_number?: number | null | undefined
  /** Further words that this shop refuses, in addition to the common ones. */
  readonly forbidden_words?: ReadonlyArray<string> | null | undefined
  /** The common words that this shop allows. */
  readonly allowed_words?: ReadonlyArray<string> | null | undefined
  /** The languages of the words that tickets may not contain; an empty list refuses none. */
  readonly languages?: ReadonlyArray<string> | null | undefined
}

/** The changes of a loyalty program. */
export interface PlainProgramPatch {
  /** Whether the shop gives stamps. */
  readonly active?: boolean | null | undefined
  /** The name of the program; null clears it. */
  readonly name?: string | null | undefined
  /** How many stamps a reward costs. */
  readonly stamps_required?: number | null | undefined
  /** How many stamps a finished ticket earns, once. */
  readonly stamps_per_ticket?: number | null | undefined
  /** The reward, such as `A free hem`; null clears it. */
  readonly reward_label?: string | null | undefined
}

/** A new key of a shop (Specification, Keys and scopes). */
export interface PlainKey {
  /** The owner's name for the key, such as `till`. */
  readonly name: string
  /** The scopes of the key, at least one. */
  readonly scopes: readonly [Named.Scope, ...Array<Named.Scope>]
  /** When the key expires (ISO 8601); by default it never does. */
  readonly expires_at?: string | null | undefined
}

/** The events to send again: some by their ids, or all that match the other fields (Specification, Sandbox). */
export interface PlainReplay {
  /** The events by their ids, without any other filter. */
  readonly event_ids?: ReadonlyArray<string> | null | undefined
  /** Only events from this instant on (ISO 8601). */
  readonly since?: string | null | undefined
  /** Only events before this instant (ISO 8601). */
  readonly until?: string | null | undefined
  /** Only events whose delivery is in this state. */
  readonly state?: "pending" | "delivered" | "parked" | "dead" | null | undefined
  /** Whether to count the events without sending them. */
  readonly dry_run?: boolean | null | undefined
}

/** A ticket of a client. */
export interface ClientTicketRef {
  /** The signed-in client; never an id from a request. */
  readonly client_id: string
  /** The ticket with the quote. */
  readonly ticket_id: string
}
/** An offer to a client. */
export interface ClientOfferRef {
  /** The signed-in client; never an id from a request. */
  readonly client_id: string
  /** The offer, as `offers.ofClient` lists it. */
  readonly offer_id: string
}
/** A visit to a shop's counter. */
export interface PlainVisit {
  /** The visiting client. */
  readonly client_id: string
  /** The shop, which knows the client from then on. */
  readonly shop_id: string
}
/** The entries of the audit log to list. */
export interface PlainAuditQuery {
  /** The shop; by default all shops. */
  readonly shop_id?: string | null
  /** Only entries older than the entry with this id; by default all. */
  readonly before?: string | null
  /** The maximum number of entries; 100 by default. */
  readonly limit?: number
}
