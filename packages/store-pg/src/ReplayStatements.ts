import type { DeliveryState, EventRecord, Instant, Webhook } from "@workshop/core"
import {
  acknowledges,
  deliveryState,
  type EventRange,
  matchesReplayFilter,
  type ReplayFilter
} from "@workshop/core/store"
import { type DeliveryRow, deliveryOf } from "./Tables.js"

/** An event with what tells the state of its delivery. */
export interface EventFound extends Pick<EventRecord, "id" | "type" | "ticket_id" | "seq"> {
  readonly created_at: Instant
  readonly delivery: DeliveryRow | null
  /** How often it was ever tried. */
  readonly attempts_made: number
  /** The status of its last attempt. */
  readonly last_status: number | null
}

/** The events of `e` with what tells the state of their deliveries. A delivery knows attempts that the log has lost to retention. */
const WITH_DELIVERY = `select e.id, e.type, e.ticket_id, e.seq, e.created_at, row_to_json(d) as delivery,
    greatest(a.n, d.attempts_made, 0) as attempts_made, a.status as last_status`

const LAST_ATTEMPT = `left join lateral (
    select a.n, a.status from attempt a where a.shop_id = e.shop_id and a.event_id = e.id order by a.n desc limit 1
  ) a on true`

const named = (filter: string) => `(${filter}->'event_ids' is null
      or e.id = any(array(select json_array_elements_text(${filter}->'event_ids'))::uuid[]))
    and (${filter}->>'since' is null or e.created_at >= (${filter}->>'since')::bigint)
    and (${filter}->>'until' is null or e.created_at < (${filter}->>'until')::bigint)`

/**
 * The next events of the replay `r`, as far as its filter is of their own, at most `q.most`. Their deliveries are locked: one that
 * was claimed between this look and the save would be sent twice at once.
 */
export const candidatesOfReplay = `${WITH_DELIVERY}
  from (
    select e.* from event e
    where e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq < r.until_seq and ${named("r.filter")}
    order by e.seq limit q.most
  ) e left join lateral (
    select * from delivery d where d.shop_id = e.shop_id and d.event_id = e.id for no key update
  ) d on true ${LAST_ATTEMPT}`

/** The events of a shop after a place, as far as a filter is of their own. */
export const candidatesOfShop = `${WITH_DELIVERY}
  from (
    select e.* from event e where e.shop_id = $1 and e.seq > $2 and ${named("$3::json")} order by e.seq limit $4
  ) e left join delivery d on d.shop_id = e.shop_id and d.event_id = e.id ${LAST_ATTEMPT} order by e.seq`

/** The latest events of a shop before a place. */
export const latestOfShop = `${WITH_DELIVERY}
  from (select e.* from event e where e.shop_id = $1 and e.seq < $2 order by e.seq desc limit $3) e
  left join delivery d on d.shop_id = e.shop_id and d.event_id = e.id ${LAST_ATTEMPT} order by e.seq desc`

/** The state of an event's delivery; undefined where it never had one. */
export const stateOf = (
  { delivery, attempts_made, last_status }: EventFound,
  webhook: Webhook | null
): DeliveryState | undefined =>
  webhook === null || (delivery === null && attempts_made === 0)
    ? undefined
    : deliveryState(delivery ?? undefined, webhook, acknowledges({ status: last_status }))

/** The events that a step of a replay looked at, and those that match its filter. */
export const eventRangeOf = (
  filter: ReplayFilter,
  events: ReadonlyArray<EventFound>,
  webhook: Webhook | null
): EventRange => ({
  found: events
    .filter((event) => matchesReplayFilter(filter, event, stateOf(event, webhook)))
    .map(({ id, type, ticket_id, seq, created_at, delivery, attempts_made }) => ({
      event: { id, type, ticket_id, seq, created_at },
      delivery: delivery === null ? undefined : deliveryOf(delivery),
      is_in_flight: delivery !== null && delivery.lease_until !== null,
      attempts_made
    })),
  looked_at: events.length,
  last_seq: events.at(-1)?.seq ?? null
})
