import type { EventRecord } from "./Event.js"
import type { EventType } from "./EventType.js"
import type { EventId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import { Limits, retryDelays_ms, ServiceLimits } from "./Limits.js"
import { isWebhookOn, type SendResult, type Webhook } from "./Webhook.js"

/**
 * The state of an event's delivery: it waits, was delivered, is parked until its webhook is on again, or was given up.
 */
export type DeliveryState = "pending" | "delivered" | "parked" | "dead"

/**
 * The delivery of an event that has not arrived. The row is deleted when the event arrives or is given up, so that only the log of attempts
 * remains; a replay creates it again.
 */
export interface DeliveryRecord {
  /** The shop of the event, to whose webhook it is sent. */
  readonly shop_id: ShopId
  /** The event that is delivered. A shop has at most one delivery of an event. */
  readonly event_id: EventId
  /** The event's type, so that lists need not read the event. */
  readonly type: EventType
  /** Deliveries of one ticket are sent one at a time, in the order of their events; null for a ping. */
  readonly ticket_id: TicketId | null
  /** The event's position in the shop's order of events. */
  readonly seq: number
  /** How many attempts were made in all; the numbers of attempts continue after releases and replays. */
  readonly attempts_made: number
  /** How many attempts were made since the last release or replay. The retry schedule depends on this number. */
  readonly attempts_since_reset: number
  /** When the next attempt is due, in milliseconds since 1970. */
  readonly due_at: Instant
  /** The webhook's generation when the row was written; a delivery of an older one is due again, see {@link presentSchedule}. */
  readonly generation: number
  /** A replayed delivery waits until no live one is due, so that a replay delays no new event. */
  readonly is_replay: boolean
  /**
   * A number that increases with every claim and every record of an attempt. A result with an older token changes
   * nothing.
   */
  readonly token: number
}

/** One attempt in the log. */
export interface AttemptRecord extends SendResult {
  /** The shop of the event. */
  readonly shop_id: ShopId
  /** The event that was sent. */
  readonly event_id: EventId
  /** The number of the attempt, from 1. */
  readonly n: number
  /** When the attempt began, in milliseconds since 1970. */
  readonly started_at: Instant
}

/** An event with the attempts to deliver it. */
export interface SentEvent {
  /** The event with its text, as it was sent. */
  readonly event: EventRecord
  /** The logged attempts, oldest first; empty if none was made or logged. */
  readonly attempts: ReadonlyArray<AttemptRecord>
}

/** The delivery of an event that was just raised, due at once. */
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
  attempts_since_reset: 0,
  due_at: now,
  generation,
  is_replay: false,
  token: 0
})

/**
 * A delivery's current schedule. If its webhook was turned on again after the row was written, the schedule starts
 * again.
 */
export const presentSchedule = (
  delivery: DeliveryRecord,
  webhook: Webhook
): Pick<DeliveryRecord, "attempts_since_reset" | "due_at"> =>
  delivery.generation < webhook.generation ? { attempts_since_reset: 0, due_at: webhook.enabled_at } : delivery

/** The state of an event's delivery, derived from its row (if it still has one), its last attempt and its webhook. */
export const deliveryState = (
  delivery: DeliveryRecord | undefined,
  webhook: Webhook,
  hasArrived: boolean
): DeliveryState => {
  if (delivery !== undefined) return isWebhookOn(webhook) ? "pending" : "parked"
  return hasArrived ? "delivered" : "dead"
}

const { retry_jitter_share, retry_jitter_max_ms } = ServiceLimits

/**
 * The instant of the retry after attempt `attempts_made` failed at `ended_at`; null if it was the last. `jitter`, from 0 to 1,
 * delays the retry by up to a tenth; the sandbox passes 0 (Specification, Webhooks).
 */
export const nextAttempt = (attempts_made: number, ended_at: Instant, jitter: number): Instant | null => {
  const delay_ms = retryDelays_ms[attempts_made - 1]
  return delay_ms === undefined
    ? null
    : ended_at + delay_ms + Math.floor(Math.min(delay_ms * retry_jitter_share, retry_jitter_max_ms) * jitter)
}

/** A delivery in the queue. */
export interface WaitingDelivery {
  /** The event's position in the shop's order of events. */
  readonly seq: number
  /** Deliveries of one ticket are sent one after another; null if there is no ticket. */
  readonly ticket: number | null
  /** Whether a replay queued it; replayed deliveries are claimed after live ones. */
  readonly is_replay: boolean
  /** When the next attempt is due, in milliseconds since 1970. */
  readonly due_at: Instant
}

/** The fields that order a shop's due deliveries, ascending: live before replayed, then the earliest (Specification, Webhooks). */
export const claimOrder = ["is_replay", "due_at", "seq"] as const satisfies ReadonlyArray<keyof WaitingDelivery>

/** Compares two due deliveries of a shop by {@link claimOrder}: negative if `a` is first. */
export const compareClaims = (a: ClaimRank, b: ClaimRank): number =>
  claimOrder.reduce((order, field) => order || Number(a[field]) - Number(b[field]), 0)

/** The fields that the order of claims depends on. */
export type ClaimRank = Pick<WaitingDelivery, (typeof claimOrder)[number]>

/** A shop whose webhook is on. */
export interface ShopQueue {
  readonly waiting: ReadonlyArray<WaitingDelivery>
  readonly in_flight: ReadonlyArray<WaitingDelivery>
}

/**
 * The shop's next delivery, of a ticket without a delivery in flight; undefined if the shop has the maximum in flight.
 */
const firstDueOf = ({ waiting, in_flight }: ShopQueue, now: Instant): WaitingDelivery | undefined => {
  if (in_flight.length >= Limits.deliveries_in_flight_per_shop) return undefined
  const busyTickets = new Set(in_flight.map(({ ticket }) => ticket))
  const claimable = waiting.filter(
    ({ ticket, due_at }) => due_at <= now && (ticket === null || !busyTickets.has(ticket))
  )
  return [...claimable].sort(compareClaims)[0]
}

/** The claimed deliveries, each with the index of its shop in the queue before the claim, and the queue afterwards. */
export interface NextClaims<Shop> {
  readonly claims: ReadonlyArray<readonly [position: number, delivery: WaitingDelivery]>
  readonly queue: ReadonlyArray<Shop>
}

/**
 * The rule of claims (Specification, Webhooks), written without regard to speed: the contract suite compares every store with it. The queue
 * begins with the shop that was served longest ago. A shop that is served moves to the end, so each shop with due deliveries is served
 * before any is served again.
 */
export const nextClaims = <Shop extends ShopQueue>(
  queue: ReadonlyArray<Shop>,
  now: Instant,
  slots: number
): NextClaims<Shop> => {
  const claims: Array<readonly [number, WaitingDelivery]> = []
  let turns = queue.map((shop, position) => ({ shop, position }))
  while (claims.length < slots) {
    const turn = turns.find(({ shop }) => firstDueOf(shop, now) !== undefined)
    if (turn === undefined) break
    const { shop, position } = turn
    const next = firstDueOf(shop, now)!
    claims.push([position, next])
    const waiting = shop.waiting.filter((delivery) => delivery !== next)
    const servedShop = { ...shop, waiting, in_flight: [...shop.in_flight, next] }
    turns = [...turns.filter((one) => one !== turn), { shop: servedShop, position }]
  }
  return { claims, queue: turns.map(({ shop }) => shop) }
}

/**
 * The events to send again: the named ones, or those of a period whose delivery is in a state. An event must match all given fields
 * (Specification, Sandbox).
 */
export interface ReplayFilter {
  /** Only these events; without it, the events of the period. */
  readonly event_ids?: ReadonlyArray<EventId>
  /** Inclusive. */
  readonly since?: Instant
  /** Exclusive. */
  readonly until?: Instant
  /** Only events whose delivery is in this state. */
  readonly state?: DeliveryState
}

/**
 * A replay's progress through the shop's events. It processes a thousand at a time, so that a long replay does not
 * delay the shop.
 */
export interface ReplayRecord {
  /** The shop whose events are sent again. */
  readonly shop_id: ShopId
  /** A UUID. A shop can have several replays at once. */
  readonly id: string
  /** The events that the replay sends. */
  readonly filter: ReplayFilter
  /** The `seq` after which the replay continues. */
  readonly after_seq: number
  /** The `seq` at which the replay ends, exclusive. */
  readonly until_seq: number
  /** Whether the replay has queued all of its events. */
  readonly is_done: boolean
  /** When the replay was requested, in milliseconds since 1970. */
  readonly created_at: Instant
}

/** An event that a replay may send again, with the state of its delivery. */
export interface Replayable {
  /** The event, without its text. */
  readonly event: Pick<EventRecord, "id" | "type" | "ticket_id" | "seq" | "created_at">
  /** The event's waiting delivery; undefined if it arrived, was given up, or never had one. */
  readonly delivery: DeliveryRecord | undefined
  /** Whether an attempt is in flight. */
  readonly is_in_flight: boolean
  /** How many attempts were made in all. */
  readonly attempts_made: number
}

/** The events that a replay's next step read. The number of events read is bounded, even if few of them match. */
export interface EventRange {
  /** The events in ascending order of `seq`. */
  readonly events: ReadonlyArray<Replayable>
  /** The `seq` of the last event that the step read. */
  readonly last_seq: number
}

/**
 * Whether a filter matches an event whose delivery has this state. The state is undefined if the event never had a
 * delivery.
 */
export const matchesReplayFilter = (
  filter: ReplayFilter,
  event: Pick<EventRecord, "id" | "created_at">,
  deliveryState: DeliveryState | undefined
): boolean => {
  const { event_ids, since, until, state } = filter
  return (
    (event_ids === undefined || event_ids.includes(event.id)) &&
    (since === undefined || event.created_at >= since) &&
    (until === undefined || event.created_at < until) &&
    (state === undefined || state === deliveryState)
  )
}
