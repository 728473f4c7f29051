import { acknowledges } from "@workshop/core/domain/Attempt"
import { type DeliveryState, deliveryState, standing } from "@workshop/core/domain/Delivery"
import type { EventRecord } from "@workshop/core/domain/Event"
import { asksFor, type Replayable, type ReplayFilter, type ReplayRecord } from "@workshop/core/domain/Replay"
import type { LoggedDelivery } from "@workshop/core/ports/DeliveryLog"
import type { Shelf } from "./Shelf.js"

const stateOf = ({ slice, attempts }: Shelf, { id }: EventRecord): DeliveryState | undefined => {
  const row = slice.deliveries.get(id)
  const last = attempts.get(id)?.at(-1)
  if (slice.webhook === null || (row === undefined && last === undefined)) return undefined
  return deliveryState(row, slice.webhook, last !== undefined && acknowledges(last))
}

/** The events that a filter can mean, in their order, from the one after a place on. */
function* candidates({ events }: Shelf, { event_ids }: ReplayFilter, after_seq: number) {
  const named = event_ids === undefined ? undefined : new Set<string>(event_ids)
  // The events of a shop are numbered from 1 without a gap, so the one after a place is found without a search.
  for (let i = after_seq; i < events.length; i++) if (named === undefined || named.has(events[i]!.id)) yield events[i]!
}

/** The events that a filter asks for, in their order, after a place and before another. */
export function* askedFor(
  shelf: Shelf,
  filter: ReplayFilter,
  after_seq = 0,
  until_seq = Number.POSITIVE_INFINITY
): Generator<EventRecord> {
  for (const event of candidates(shelf, filter, after_seq)) {
    if (event.seq >= until_seq) return
    if (asksFor(filter, event, stateOf(shelf, event))) yield event
  }
}

/** The next events that a replay asks for. */
export const replayable = (
  shelf: Shelf,
  { filter, after_seq, until_seq }: ReplayRecord,
  most: number
): ReadonlyArray<Replayable> => {
  const next: Array<Replayable> = []
  for (const event of askedFor(shelf, filter, after_seq, until_seq)) {
    next.push({
      event,
      delivery: shelf.slice.deliveries.get(event.id),
      attempts_made: shelf.attempts.get(event.id)?.length ?? 0
    })
    if (next.length === most) break
  }
  return next
}

/** What became of each event that was to be delivered. */
export const logged = (shelf: Shelf): ReadonlyArray<LoggedDelivery> =>
  shelf.events.flatMap((event) => {
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
