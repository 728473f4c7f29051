import { Context, type Effect } from "effect"
import type { EventId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { Webhook } from "../domain/Webhook.js"
import type { StoreUnavailable } from "./Store.js"

/** A delivery that is this process's to make, until its lease (`ServiceLimits.delivery_lease_ms`) ends. */
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
    /** Replays that have steps to take, oldest first, at most `ServiceLimits.replays_per_look`. */
    readonly replays: Effect.Effect<ReadonlyArray<OpenReplay>, StoreUnavailable>
  }
>() {}
