import type * as Named from "@workshop/client"
import { Schema } from "effect"
import type { ClientId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import { LoyaltyCard } from "./LoyaltyCard.js"
import type { Phone } from "./Phone.js"
import { RefusalOf } from "./RefusalOf.js"

/** A person with an account, whether or not a shop knows them. */
export interface ClientAccount {
  /** The client's id. */
  readonly id: ClientId
  /** The first name, which shops see. */
  readonly given_name: string
  /** The family name. Shops see it in full, or only its initial if `hide_name` is set. */
  readonly family_name: string
  /** The telephone number, by which offers find the account. */
  readonly phone: Phone
  /** Whether shops see only the first name and an initial, such as `Amira B.`. */
  readonly hide_name: boolean
  /** When the account was created, in milliseconds since 1970. */
  readonly created_at: Instant
}

/** A client's relation to a shop: known after an accepted offer or a visit; a block is permanent (Specification, Clients and loyalty). */
export interface ClientLink {
  /** The shop to which the client is related. */
  readonly shop_id: ShopId
  /** The client's account, which is the same in all shops. */
  readonly client_id: ClientId
  /** When the client became known to the shop; null if they blocked it before that. */
  readonly known_at: Instant | null
  /** When the client blocked the shop; null if they did not. The shop then sees no data of the client. */
  readonly blocked_at: Instant | null
}

/** A client whom a shop may see. A shop gets no other data of the account. */
export interface DisplayedClient {
  /** The client's account, which is the same in all shops. */
  readonly id: ClientId
  /** The full name, or the given name with the initial of the family name, as the client chose. */
  readonly display_name: string
}

/**
 * The shop has no such client. A client who does not exist and one who blocks the shop give the same refusal (Specification, Endpoints).
 */
export class ClientNotFound extends RefusalOf(
  "ClientNotFound",
  "This shop does not know a client with this id or phone number"
) {}

/** The client, as a ticket contains them. */
export const ClientBadge = Schema.Struct({
  id: Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  display_name: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ClientBadge", description: "The client linked to the ticket" })
export interface ClientBadge extends Named.ClientBadge {}

/** A client, as responses contain them (Specification, Resources). */
export const ClientView = Schema.Struct({
  ...ClientBadge.fields,
  tickets_open: Schema.Int,
  tickets_total: Schema.Int,
  loyalty: Schema.NullOr(LoyaltyCard)
}).annotations({ identifier: "Client", description: "A client, as seen by a shop that knows them" })
/** A client in the form of the API's JSON. Instants are ISO 8601 in UTC. */
export interface ClientView extends Named.Client {}

/** The name that the client chose to show: in full, or with the family name abbreviated, as in `Amira B.` (Specification, Resources; Clients and loyalty). */
export const displayName = ({
  given_name,
  family_name,
  hide_name
}: Pick<ClientAccount, "given_name" | "family_name" | "hide_name">): string =>
  hide_name ? `${given_name} ${[...family_name][0] ?? ""}.` : `${given_name} ${family_name}`

/**
 * The fields of a link that are set if the shop sees the client, who is known and does not block it (Specification,
 * Clients and loyalty).
 */
export const visibleLink = { known_at: true, blocked_at: false } as const satisfies Partial<
  Record<keyof ClientLink, boolean>
>

const visibleFields = Object.keys(visibleLink) as ReadonlyArray<keyof typeof visibleLink>

/** Whether a client blocks a shop; a client without a link to the shop does not. */
export const isBlocked = (link: ClientLink | null | undefined): boolean => (link?.blocked_at ?? null) !== null

/** Whether a shop sees a client, by the table {@link visibleLink}. */
export const isVisible = (link: ClientLink): boolean =>
  visibleFields.every((field) => (link[field] !== null) === visibleLink[field])

/**
 * The client as this shop may see them; null for an unknown client and for one who blocks it (Specification, Clients
 * and loyalty).
 */
export const visibleClient = (
  account: ClientAccount | undefined,
  link: ClientLink | undefined
): DisplayedClient | null =>
  account === undefined || link === undefined || !isVisible(link)
    ? null
    : { id: account.id, display_name: displayName(account) }

/** The client, as tickets and events contain them. */
export const clientBadge = (client: DisplayedClient): ClientBadge => ({
  id: client.id,
  display_name: client.display_name
})
