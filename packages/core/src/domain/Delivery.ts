import type { Sent } from "./Attempt.js"
import type { EventRecord } from "./Event.js"
import type { EventType } from "./EventType.js"
import type { EventId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Webhook } from "./Webhook.js"

/** What becomes of an event's delivery: it waits, it arrived, it waits for its webhook to be on again, or it was given up. */
export type DeliveryState = "pending" | "delivered" | "parked" | "dead"

/**
 * An event that still has to arrive. The row lives as long as that; afterwards the log of attempts tells the rest.
 * Its arrival or its last failure takes it away, a replay brings it back.
 */
export interface DeliveryRecord {
  readonly shop_id: ShopId
  readonly event_id: EventId
  readonly type: EventType
  /** Deliveries of one ticket go out one at a time, in the order of their events; null for a ping. */
  readonly ticket_id: TicketId | null
  /** The event's place in the shop's order of events. */
  readonly seq: number
  /** How often it was ever tried; the numbers of attempts go on through releases and replays. */
  readonly attempts_made: number
  /** How often since it was last made due anew: what the retry schedule counts. */
  readonly attempts_in_round: number
  readonly due_at: Instant
  /** The webhook's generation when the row was written; an older one is due anew, see {@link presentSchedule}. */
  readonly generation: number
  /** A replayed one waits until no live one is due, so that a replay starves nobody. */
  readonly is_replay: boolean
  /** Raised by every claim, and by every record of an attempt. What comes back under an older one changes nothing. */
  readonly token: number
}

/** One attempt, as it is logged for good. */
export interface AttemptRecord extends Sent {
  readonly shop_id: ShopId
  readonly event_id: EventId
  /** The number of the attempt, from 1. */
  readonly n: number
  readonly started_at: Instant
}

/** An event with the attempts to deliver it. */
export interface SentEvent {
  readonly event: EventRecord
  readonly attempts: ReadonlyArray<AttemptRecord>
}

/** The delivery of an event that was just raised: due at once. */
export const firstDelivery = (
  { shop_id, id, type, ticket_id, seq }: EventRecord,
  { generation }: Webhook,
  now: Instant
): DeliveryRecord => ({
  shop_id,
  event_id: id,
  type,
  ticket_id,
  seq,
  attempts_made: 0,
  attempts_in_round: 0,
  due_at: now,
  generation,
  is_replay: false,
  token: 0
})

/** What a delivery's place in the schedule is now: one from before its webhook was turned on again starts anew. */
export const presentSchedule = (
  delivery: DeliveryRecord,
  webhook: Webhook
): Pick<DeliveryRecord, "attempts_in_round" | "due_at"> =>
  delivery.generation < webhook.generation ? { attempts_in_round: 0, due_at: webhook.released_at } : delivery

/** The state of an event's delivery, from its row (if it still has one), its last attempt and its webhook. */
export const deliveryState = (
  delivery: DeliveryRecord | undefined,
  webhook: Webhook,
  arrived: boolean
): DeliveryState => {
  if (delivery !== undefined) return webhook.off_reason === null ? "pending" : "parked"
  return arrived ? "delivered" : "dead"
}
