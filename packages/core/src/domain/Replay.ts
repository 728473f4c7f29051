import type { DeliveryRecord, DeliveryState } from "./Delivery.js"
import type { EventRecord } from "./Event.js"
import type { EventId, ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"

/** Which events to send again: the named ones, or those of a time whose delivery is in a state; all that is given must hold (Specification, Sandbox). */
export interface ReplayFilter {
  readonly event_ids?: ReadonlyArray<EventId>
  /** Inclusive. */
  readonly since?: Instant
  /** Exclusive. */
  readonly until?: Instant
  readonly state?: DeliveryState
}

/** A replay on its way through the shop's events, a thousand at a time, so that a long one never holds up the shop. */
export interface ReplayRecord {
  readonly shop_id: ShopId
  readonly id: string
  readonly filter: ReplayFilter
  /** The place in the order of events after which it goes on. */
  readonly after_seq: number
  /** The place at which it ends: events raised later are not replayed. */
  readonly until_seq: number
  readonly is_done: boolean
  readonly created_at: Instant
}

/** An event to send again, with what is known of its delivery. */
export interface Replayable {
  readonly event: Pick<EventRecord, "id" | "type" | "ticket_id" | "seq" | "created_at">
  readonly delivery: DeliveryRecord | undefined
  /** Whether an attempt is under way. */
  readonly is_in_flight: boolean
  /** How often it was ever tried. */
  readonly attempts_made: number
}

/** What a replay's next step looked at: never more than it may, however few of the events it asks for. */
export interface EventRange {
  readonly found: ReadonlyArray<Replayable>
  /** The place up to which it looked. */
  readonly last_seq: number
}

/** Whether a filter asks for an event whose delivery is in a state (undefined: it never had one). */
export const matchesReplayFilter = (
  { event_ids, since, until, state }: ReplayFilter,
  event: Pick<EventRecord, "id" | "created_at">,
  found: DeliveryState | undefined
): boolean =>
  (event_ids === undefined || event_ids.includes(event.id)) &&
  (since === undefined || event.created_at >= since) &&
  (until === undefined || event.created_at < until) &&
  (state === undefined || state === found)
