import { Context, type Effect } from "effect"
import type { EventId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import type { Webhook } from "../domain/Webhook.js"
import type { StoreUnavailable } from "./Store.js"

/** How many deliveries of one shop may be on their way at once (Specification, Webhooks). */
export const MOST_IN_FLIGHT_PER_SHOP = Limits.deliveries_in_flight_per_shop

/** How long a claim holds: longer than an attempt can last, so that none is sent twice while it runs. */
export const LEASE_MS = 15_000

/** A delivery that is this process's to make, until the lease ends. */
export interface Claim {
  readonly shop_id: ShopId
  readonly event_id: EventId
  /** Proves, when the attempt is recorded, that no other claim was made since. */
  readonly token: number
  /** As it is now: where to send and which secrets sign. */
  readonly webhook: Webhook
  /** The event's text, byte for byte. */
  readonly body: string
}

/** How many replays take a step in one round. */
export const MOST_REPLAYS = 100

/** A replay that has steps to take. */
export interface OpenReplay {
  readonly shop_id: ShopId
  readonly id: string
}

/**
 * The queue of deliveries. Their rows are written by commands; this port only hands them out. Leases are counted on the
 * store's own clock in real time, so neither a sandbox nor a process whose clock is off holds a delivery too long.
 */
export class Deliveries extends Context.Tag("@workshop/core/Deliveries")<
  Deliveries,
  {
    /**
     * At most `most` deliveries due at `now`, going round the shops, so that one with a long queue delays no other:
     * no more than four of a shop in flight, one of a ticket, a ticket's in the order of its events, live ones before
     * replayed ones, none of a webhook that is off. No delivery is claimed by two processes at once.
     */
    readonly claim: (now: Instant, most: number) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** Puts deliveries back whose lease has ended because their process died. It uses up none of their attempts. */
    readonly reclaim: Effect.Effect<number, StoreUnavailable>
    /** The earliest instant, at most `until`, at which a delivery is due that could be claimed; null where there is none. */
    readonly next: (until: Instant) => Effect.Effect<Instant | null, StoreUnavailable>
    /** Returns when something may have become due. It may return early or for nothing; a slow poll covers what it misses. */
    readonly changed: Effect.Effect<void>
    /** Replays that have steps to take, oldest first, at most {@link MOST_REPLAYS}. */
    readonly replays: Effect.Effect<ReadonlyArray<OpenReplay>, StoreUnavailable>
  }
>() {}
