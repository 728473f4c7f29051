import { type AttemptRecord, type DeliveryState, type EventId, type EventRecord, ServiceLimits } from "@workshop/core"
import {
  acknowledges,
  deliveryState,
  type EventPart,
  type EventRange,
  type LoggedDelivery,
  matchesReplayFilter,
  presentSchedule,
  type ReplayFilter,
  type ReplayRecord,
  type ShopState
} from "@workshop/core/store"
import type { ShopDeliveryQueue } from "./ShopDeliveryQueue.js"

/** The events of a shop and their deliveries. */
interface Deliveries {
  readonly slice: Pick<ShopState, "deliveries" | "webhook">
  readonly events: ReadonlyArray<EventRecord>
  readonly attempts: ReadonlyMap<EventId, ReadonlyArray<AttemptRecord>>
  readonly queue: Pick<ShopDeliveryQueue, "isInFlight">
}

const stateOf = ({ slice, attempts }: Deliveries, { id }: EventRecord): DeliveryState | undefined => {
  const row = slice.deliveries.get(id)
  const last = attempts.get(id)?.at(-1)
  if (slice.webhook === null || (row === undefined && last === undefined)) return undefined
  return deliveryState(row, slice.webhook, last !== undefined && acknowledges(last))
}

/** The events that a filter asks for, in their order. */
export function* askedFor(data: Deliveries, filter: ReplayFilter): Generator<EventRecord> {
  for (const event of data.events) if (matchesReplayFilter(filter, event, stateOf(data, event))) yield event
}

/** The highest number of an attempt: late ones share theirs with another, and the log may lack earlier ones. */
const attemptsMade = ({ slice, attempts }: Deliveries, { id }: EventRecord): number =>
  Math.max(slice.deliveries.get(id)?.attempts_made ?? 0, ...(attempts.get(id) ?? []).map(({ n }) => n))

/** The next events of a replay. The events of a shop are numbered from 1 without a gap, so they are found without a search. */
export const replayable = (
  data: Deliveries,
  { filter, after_seq, until_seq }: ReplayRecord,
  most: number
): EventRange => {
  const last_seq = Math.min(after_seq + most, until_seq - 1)
  const found = data.events
    .slice(after_seq, last_seq)
    .filter((event) => matchesReplayFilter(filter, event, stateOf(data, event)))
  return {
    found: found.map((event) => ({
      event,
      delivery: data.slice.deliveries.get(event.id),
      is_in_flight: data.queue.isInFlight(event.id),
      attempts_made: attemptsMade(data, event)
    })),
    last_seq
  }
}

const statusOf = (data: Deliveries, event: EventRecord): LoggedDelivery | undefined => {
  const { id: event_id, seq, type } = event
  const state = stateOf(data, event)
  if (state === undefined) return undefined
  const row = data.slice.deliveries.get(event_id)
  const next_attempt_at =
    state === "pending" && row !== undefined ? presentSchedule(row, data.slice.webhook!).due_at : null
  return { event_id, seq, type, state, next_attempt_at, attempts: [...(data.attempts.get(event_id) ?? [])] }
}

/** Of the events of a shop, which are numbered from 1 without a gap, those before a place. */
const countBefore = (events: ReadonlyArray<EventRecord>, before: number): number =>
  Math.max(0, Math.min(events.length, before - 1))

/** The latest events of a part. */
export const partOf = (
  events: ReadonlyArray<EventRecord>,
  { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max }: EventPart = {}
): ReadonlyArray<EventRecord> => {
  const end = countBefore(events, before)
  return events.slice(Math.max(0, end - limit), end)
}

/** The deliveries of the latest events of a part. */
export const logged = (
  data: Deliveries,
  { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max }: EventPart = {}
): ReadonlyArray<LoggedDelivery> => {
  const found: Array<LoggedDelivery> = []
  for (let at = countBefore(data.events, before) - 1; at >= 0 && found.length < limit; at--) {
    const delivery = statusOf(data, data.events[at]!)
    if (delivery !== undefined) found.push(delivery)
  }
  return found.reverse()
}
