import type { EventRecord, Instant } from "@workshop/core"
import {
  acknowledges,
  acknowledgingStatuses,
  type DeliveryState,
  deliveryState,
  type EventRange,
  matchesReplayFilter,
  type ReplayFilter,
  type Webhook
} from "@workshop/core/store"
import { type DeliveryRow, deliveryOf } from "../Tables.js"

/** An event with the data that determine the state of its delivery. */
export interface EventWithDelivery extends Pick<EventRecord, "id" | "type" | "ticket_id" | "seq"> {
  readonly created_at: Instant
  readonly delivery: DeliveryRow | null
  /** The number of all attempts. */
  readonly attempts_made: number
  /** The HTTP status of the last attempt. */
  readonly last_status: number | null
}

/**
 * Selects the events of `e` with the data that determine the state of their deliveries. `attempts_made` includes
 * attempts that retention has deleted from the log.
 */
const WITH_DELIVERY = `select e.id, e.type, e.ticket_id, e.seq, e.created_at, row_to_json(d) as delivery,
    greatest(a.n, d.attempts_made, 0) as attempts_made, a.status as last_status`

/** SQL of whether the attempt `a` was acknowledged; false without a status. Core defines the statuses. */
export const IS_ACKNOWLEDGED = `coalesce(a.status between ${acknowledgingStatuses.first} and ${acknowledgingStatuses.last}, false)`

/**
 * Joins the last attempt. Two attempts have the same number if the lease of the first expired before its result came.
 * Then a successful attempt counts, or otherwise the attempt that began last.
 */
const LAST_ATTEMPT = `left join lateral (
    select a.n, a.status from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id 
    order by a.n desc, ${IS_ACKNOWLEDGED} desc, a.started_at desc limit 1
  ) a on true`

/** The number of events that one statement reads. */
export const MAX_EVENTS_READ = 5_000

/**
 * The last event of the range after `r.after_seq`. The range is counted from its first event, because retention leaves
 * gaps.
 */
const LAST_SEQ = `select case when r.filter->'event_ids' is not null then r.until_seq - 1 else least(r.until_seq - 1, (
      select e.seq from workshop.event e where e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq < r.until_seq
      order by e.seq limit 1
    ) + ${MAX_EVENTS_READ - 1}) end as last_seq`

/**
 * Selects the events of a filter with at most 1,000 ids by their ids, and otherwise in order. `+ 0` keeps the planner
 * from reading events by id in order.
 */
const CANDIDATES = `(
      select * from workshop.event e
      where e.shop_id = r.shop_id and e.id = any(array(select json_array_elements_text(r.filter->'event_ids'))::uuid[])
        and e.seq + 0 > r.after_seq and e.seq + 0 < r.until_seq
    ) union all (
      select * from workshop.event e
      where r.filter->'event_ids' is null and e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq <= extent.last_seq
        and (r.filter->>'since' is null or e.created_at >= (r.filter->>'since')::bigint)
        and (r.filter->>'until' is null or e.created_at < (r.filter->>'until')::bigint)
      order by e.seq limit q.max
    )`

/** The next range of at most `q.most` events of `r` before `r.until_seq`. */
const rangeOf = (delivery: string) => `cross join lateral (${LAST_SEQ} offset 0) extent
  cross join lateral (
    select json_build_object('last_seq', extent.last_seq, 'max', q.max, 'events', json_agg(row_to_json(c) order by c.seq)) as range
    from (${WITH_DELIVERY} from (${CANDIDATES}) e left join ${delivery} ${LAST_ATTEMPT}) c
  ) read`

/**
 * The next range of events of a replay `r`. It locks the deliveries, because a delivery that is claimed between this
 * read and the save would be sent twice at the same time.
 */
export const rangeOfReplay = rangeOf(
  "lateral (select * from workshop.delivery d where d.shop_id = e.shop_id and d.event_id = e.id for no key update) d on true"
)

/** The next range of a shop's events after a sequence number; no row if there are no further events. */
export const rangeOfShop = `select /* workshop count deliveries */ read.range
  from (select h.shop_id, $2::bigint as after_seq, h.event_seq as until_seq, $3::json as filter from workshop.shop_head h
    where h.shop_id = $1 and h.event_seq > $2::bigint + 1) r
  cross join (select $4::integer as max) q
  ${rangeOf("workshop.delivery d on d.shop_id = e.shop_id and d.event_id = e.id")}`

/** The latest events of a shop before a sequence number. */
export const latestOfShop = `${WITH_DELIVERY}
  from (select e.* from workshop.event e where e.shop_id = $1 and e.seq < $2 order by e.seq desc limit $3) e
  left join workshop.delivery d on d.shop_id = e.shop_id and d.event_id = e.id ${LAST_ATTEMPT} order by e.seq desc`

/** The state of an event's delivery; undefined if it never had one. */
export const stateOf = (
  { delivery, attempts_made, last_status }: EventWithDelivery,
  webhook: Webhook | null
): DeliveryState | undefined =>
  webhook === null || (delivery === null && attempts_made === 0)
    ? undefined
    : deliveryState(delivery ?? undefined, webhook, acknowledges({ status: last_status }))

/** A range of events that was read. */
export interface ReadRange {
  readonly last_seq: number
  readonly max: number
  readonly events: ReadonlyArray<EventWithDelivery> | null
}

/** The events of a range that match the filter, and the last event of the range. */
export const eventRangeOf = (
  filter: ReplayFilter,
  { events, last_seq, max }: ReadRange,
  webhook: Webhook | null
): EventRange => ({
  events: (events ?? [])
    .filter((event) => matchesReplayFilter(filter, event, stateOf(event, webhook)))
    .map(({ id, type, ticket_id, seq, created_at, delivery, attempts_made }) => ({
      event: { id, type, ticket_id, seq, created_at },
      delivery: delivery === null ? undefined : deliveryOf(delivery),
      is_in_flight: delivery !== null && delivery.lease_until !== null,
      attempts_made
    })),
  last_seq: events?.length === max ? events.at(-1)!.seq : last_seq
})
