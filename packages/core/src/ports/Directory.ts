import { Context, type Effect, type Stream } from "effect"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { ClientAccount } from "../domain/Client.js"
import type { ClientId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { TrackedTicket } from "../domain/TrackedTicket.js"
import type { StoreUnavailable } from "./Store.js"

/** How many tickets with one tracking code are read. */
export const TRACKED_MOST = 8

/** A thing whose shop is asked for: for acts that carry no shop. */
export type Belonging =
  | { readonly _tag: "Ticket"; readonly id: TicketId }
  | { readonly _tag: "Offer"; readonly id: OfferId }
  | { readonly _tag: "Key"; readonly id: KeyId }

/** What belongs to no one shop: the shops themselves, client accounts, and whose a key or a thing is. */
export class Directory extends Context.Tag("@workshop/core/Directory")<
  Directory,
  {
    /** Opens a shop with an untouched head. */
    readonly createShop: (shop: ShopRecord) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` shops in the order of their ids, which is that of their opening; after `after` where it is given. */
    readonly listShops: (
      after: ShopId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShopRecord>, StoreUnavailable>
    /** Whether the data were made by a sandbox, for good: never in earnest (Specification, Keys and scopes). */
    readonly isSandboxMade: Effect.Effect<boolean, StoreUnavailable>
    /** Notes that the data are a sandbox's. */
    readonly markSandboxMade: Effect.Effect<void, StoreUnavailable>
    /** The latest instant at which any shop did something; 0 where none did. A clock set to no earlier tells no shop's past. */
    readonly latest: Effect.Effect<Instant, StoreUnavailable>
    /** Opens a client account; false, and nothing opened, where another account holds the number. */
    readonly createClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** At most `limit` accounts in the order of their ids, which is that of their opening; after `after` where it is given. */
    readonly listClients: (
      after: ClientId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ClientAccount>, StoreUnavailable>
    /** Replaces the account with this id; false, and nothing changed, where another account holds the number. */
    readonly changeClient: (account: ClientAccount) => Effect.Effect<boolean, StoreUnavailable>
    /** The key with this hash and its shop, revoked or not; null where there is none. */
    readonly keyByHash: (
      hash: string
    ) => Effect.Effect<{ readonly key: ApiKeyRecord; readonly shop: ShopRecord } | null, StoreUnavailable>
    /** Notes when keys were last used, each by its id; an earlier instant than the one noted changes nothing. */
    readonly keysUsed: (uses: ReadonlyMap<KeyId, Instant>) => Effect.Effect<void, StoreUnavailable>
    /** The shop to which a thing belongs; null where there is no such thing. */
    readonly shopOf: (thing: Belonging) => Effect.Effect<ShopId | null, StoreUnavailable>
    /**
     * The tickets of all shops that have a tracking code, written as it is kept, with what their pages may show: mostly one or none,
     * because codes are unique only within a shop. At most {@link TRACKED_MOST}, however many there are.
     */
    readonly tracked: (tracking_code: string) => Effect.Effect<ReadonlyArray<TrackedTicket>, StoreUnavailable>
    /** The account with this id; null where there is none. */
    readonly account: (id: ClientId) => Effect.Effect<ClientAccount | null, StoreUnavailable>
    /** The offers to a client's number that the client sees, oldest first, the latest of each shop: none still open of a shop they block. */
    readonly offers: (id: ClientId) => Effect.Effect<ReadonlyArray<OfferRecord>, StoreUnavailable>
    /**
     * The shops of which keys or settings changed in another process, as it is heard of; null where something may have been
     * missed, so that anything may have changed. Empty where there is but one process.
     */
    readonly news: Stream.Stream<ShopId | null>
    /** What the client was told in the app, oldest first, the latest of each shop. */
    readonly inbox: (id: ClientId) => Effect.Effect<ReadonlyArray<NotificationRecord>, StoreUnavailable>
  }
>() {}
