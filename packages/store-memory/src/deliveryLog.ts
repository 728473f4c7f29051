import type { Slice } from "@workshop/core/decisions/Slice"
import { acknowledges } from "@workshop/core/domain/Attempt"
import { type AttemptRecord, type DeliveryState, deliveryState, standing } from "@workshop/core/domain/Delivery"
import type { EventRecord } from "@workshop/core/domain/Event"
import type { EventId } from "@workshop/core/domain/Identifier"
import { asksFor, type ReplayFilter, type ReplayRecord, type Stretch } from "@workshop/core/domain/Replay"
import type { LoggedDelivery } from "@workshop/core/ports/DeliveryLog"
import { MOST_LISTED } from "@workshop/core/ports/Reads"
import type { Lane } from "./Lane.js"

/** What is known of a shop's events and of their deliveries. */
interface Deliveries {
  readonly slice: Pick<Slice, "deliveries" | "webhook">
  readonly events: ReadonlyArray<EventRecord>
  readonly attempts: ReadonlyMap<EventId, ReadonlyArray<AttemptRecord>>
  readonly lane: Pick<Lane, "isInFlight">
}

const stateOf = ({ slice, attempts }: Deliveries, { id }: EventRecord): DeliveryState | undefined => {
  const row = slice.deliveries.get(id)
  const last = attempts.get(id)?.at(-1)
  if (slice.webhook === null || (row === undefined && last === undefined)) return undefined
  return deliveryState(row, slice.webhook, last !== undefined && acknowledges(last))
}

/** The events that a filter asks for, in their order. */
export function* askedFor(shelf: Deliveries, filter: ReplayFilter): Generator<EventRecord> {
  for (const event of shelf.events) if (asksFor(filter, event, stateOf(shelf, event))) yield event
}

/** The highest number of an attempt: late ones share theirs with another, and the log may lack earlier ones. */
const attemptsMade = ({ slice, attempts }: Deliveries, { id }: EventRecord): number =>
  Math.max(slice.deliveries.get(id)?.attempts_made ?? 0, ...(attempts.get(id) ?? []).map(({ n }) => n))

/** The next events of a replay. The events of a shop are numbered from 1 without a gap, so they are found without a search. */
export const replayable = (
  shelf: Deliveries,
  { filter, after_seq, until_seq }: ReplayRecord,
  most: number
): Stretch => {
  const looked = shelf.events.slice(after_seq, Math.min(after_seq + most, until_seq - 1))
  const found = looked.filter((event) => asksFor(filter, event, stateOf(shelf, event)))
  return {
    found: found.map((event) => ({
      event,
      delivery: shelf.slice.deliveries.get(event.id),
      is_in_flight: shelf.lane.isInFlight(event.id),
      attempts_made: attemptsMade(shelf, event)
    })),
    looked_at: looked.length,
    last_seq: looked.at(-1)?.seq ?? null
  }
}

/** What became of each of the latest events that was to be delivered. */
export const logged = (shelf: Deliveries): ReadonlyArray<LoggedDelivery> =>
  shelf.events.slice(-MOST_LISTED).flatMap((event) => {
    const state = stateOf(shelf, event)
    if (state === undefined) return []
    const row = shelf.slice.deliveries.get(event.id)
    const next_attempt_at = state === "pending" && row !== undefined ? standing(row, shelf.slice.webhook!).due_at : null
    return [
      {
        event_id: event.id,
        type: event.type,
        state,
        next_attempt_at,
        attempts: [...(shelf.attempts.get(event.id) ?? [])]
      }
    ]
  })
