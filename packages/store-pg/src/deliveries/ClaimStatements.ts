import { type Instant, Limits, type ShopId } from "@workshop/core"
import { claimOrder, LAST_INSTANT, ServiceLimits, TURNS_PER_CLAIM } from "@workshop/core/store"
import { Clock } from "effect"
import type { Statement } from "../connection/Statement.js"
import { isReleased, isWebhookOn, releasedAt } from "./webhookConditions.js"

/*
 * The queue of deliveries, which is fair among shops: a claim takes one delivery of each shop before a second one of
 * any shop, and begins with the shop that was served longest ago.
 *
 * - `delivery` has one row for each event that must still be delivered. While it is in flight, `lease_until` is set: if
 *   its process dies, another one takes it back after that instant. `lease_until` is null while it waits.
 * - `delivery_queue` has one row for each shop with a webhook. `next_claim_at` is the instant from which the shop may
 *   have something to claim, or `READY` if it may have something now, or `BACKLOGGED` if it was served before and is
 *   still ready. It may be too early, never too late. Ready shops are served in the order of `turn`.
 * - `backlogged_queue` has one row for each backlogged shop, with its `turn`, because rows of `delivery_queue` are
 *   costly to update often.
 *
 * A claim is one transaction:
 *
 * 1. `MAKE_READY` makes the shops ready that have a delivery which has become due.
 * 2. `LOCK_READY_QUEUES` locks the webhooks of the ready shops that were served longest ago. It stores their ids and
 *    their queues in settings of the transaction, from which the next statements read them, so that all statements go
 *    out in one packet.
 * 3. `CLAIM` leases deliveries of these shops.
 * 4. `LOCK_QUEUES` and `RESCHEDULE_SHOPS` write when each of these shops is ready next. A shop that was served goes
 *    behind all others.
 *
 * Saving a command (`SaveStatements.ts`) and ending expired leases change these rows too: `scheduleQueues`,
 * `wakeQueues`, `resetQueues`, `removeQueues`.
 */

const realClock = Clock.make()
let lastTurn = 0

/**
 * A turn behind all others, for a shop that enters the queue. The turn increases with real time, in microseconds, and
 * with every call.
 */
const nextTurn = (): number => {
  lastTurn = Math.max(lastTurn + 1, realClock.unsafeCurrentTimeMillis() * 1_000)
  return lastTurn
}

/** The `next_claim_at` of ready shops that were not served before. */
export const READY = 0

/** The `next_claim_at` of backlogged shops: those that were served and still have something due. */
const BACKLOGGED = 1

/** Added to the turns of shops that were never served, so that they come before all others, in the order in which they entered the queue. */
const NEVER_SERVED = Number.MIN_SAFE_INTEGER

/** A shop's row in `delivery_queue`: the instant from which it may have something to claim, and the earliest due time of what waits. */
export interface QueueTimes {
  readonly next_claim_at: Instant
  readonly due_from: Instant
}

// While a transaction holds an old snapshot, vacuum cannot remove replaced row versions, and each claim reads past them. So a queue
// that does not change is only locked, which claims wait for too, and its row gets no new version.

/**
 * Makes shops ready from an instant on, because one of their deliveries becomes due then. An earlier instant in the row
 * is kept.
 */
export const scheduleQueues = (queues: ReadonlyMap<ShopId, QueueTimes>): Statement => ({
  name: "put delivery_queue",
  text: `insert into workshop.delivery_queue (shop_id, next_claim_at, due_from, turn)
    select * from (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) u (shop_id, next_claim_at, due_from, turn) order by 1) q
    on conflict (shop_id) do update set
      next_claim_at = case when delivery_queue.next_claim_at = ${BACKLOGGED} then ${BACKLOGGED} else least(delivery_queue.next_claim_at, excluded.next_claim_at) end,
      due_from = least(delivery_queue.due_from, excluded.due_from)
    where delivery_queue.next_claim_at > greatest(excluded.next_claim_at, ${BACKLOGGED}) or delivery_queue.due_from > excluded.due_from`,
  values: [
    [...queues.keys()],
    [...queues.values()].map(({ next_claim_at }) => next_claim_at),
    [...queues.values()].map(({ due_from }) => due_from),
    [...queues.keys()].map(() => NEVER_SERVED + nextTurn())
  ]
})

/**
 * Makes shops ready now, because one of their deliveries ended and another one can be sent. Each queue is locked even
 * if the shop is ready, because a claim that holds the lock may have read the shop earlier and then write that no delivery
 * of it can be claimed. `offset` keeps the planner from comparing `next_claim_at` before the lock, when it still has the
 * value from before that claim.
 */
export const wakeQueues = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "wake delivery_queue",
  text: `update workshop.delivery_queue t set next_claim_at = ${READY} from (
      select l.shop_id, l.next_claim_at from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
      cross join lateral (select * from workshop.delivery_queue d where d.shop_id = q.shop_id offset 0 for no key update) l
    ) q where t.shop_id = q.shop_id and q.next_claim_at > ${BACKLOGGED}`,
  values: [[...shop_ids]]
})

/** Makes shops ready now and resets their earliest due time, because expired leases of their deliveries were ended. */
export const resetQueues = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "reset delivery_queue",
  text: `update workshop.delivery_queue t set next_claim_at = case when t.next_claim_at = ${BACKLOGGED} then ${BACKLOGGED} else ${READY} end, due_from = 0
    from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
    where t.shop_id = q.shop_id`,
  values: [[...shop_ids]]
})

/**
 * Waits for claims of shops whose webhooks the next statements remove. Those statements could not wait themselves,
 * because a statement that waits for a lock does not see rows that the claim wrote.
 */
export const lockWebhooks = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "lock webhook",
  text: "select from workshop.webhook where shop_id = any($1::uuid[]) order by shop_id for update",
  values: [[...shop_ids]]
})

/** Removes shops without a webhook from the queue. */
export const removeQueues = (shop_ids: ReadonlySet<ShopId>): ReadonlyArray<Statement> =>
  ["backlogged_queue", "delivery_queue"].map((table) => ({
    name: `end ${table}`,
    text: `delete from workshop.${table} where shop_id = any($1::uuid[])`,
    values: [[...shop_ids]]
  }))

const { delivery_lease_ms } = ServiceLimits
const { deliveries_in_flight_per_shop } = Limits

/** The ORDER BY in which a shop's deliveries are claimed, for an alias of the table. Core defines the order. */
const claimOrderOf = (alias: string) => claimOrder.map((field) => `${alias}.${field}`).join(", ")

/** The `next_claim_at` of a shop that is not ready until one of its deliveries or its webhook changes. */
const NEVER = String(LAST_INSTANT)

/**
 * The number of waiting deliveries that are read for each free slot of a shop, because several may belong to one
 * ticket, of which only one can be sent at a time.
 */
const CANDIDATES_PER_SLOT = 4

/** SQL of the database's time, in milliseconds. */
const DATABASE_TIME = "(extract(epoch from statement_timestamp()) * 1000)::bigint"

/** SQL of the time by which leases expire, in milliseconds: the given time, or the database's time if it is null. */
const leaseTime = (instantSql: string) => `coalesce(${instantSql}::bigint, ${DATABASE_TIME})`

/** The most shops that one statement makes ready. */
export const MAX_SHOPS_MADE_READY = 10_000

/** The setting in which a transaction stores the shops that it has locked, for its later statements. */
const LOCKED_SHOPS = "workshop_claim.shops"

/**
 * The settings in which the transaction keeps the queues of these shops, in the same order. Later statements find a queue by its `ctid`, because while
 * another transaction holds an old snapshot, the index leads to every version of the row since. They compare the shop with
 * `is not distinct from`, so that the planner uses no index for it.
 */
const QUEUE_SETTINGS = {
  shop_id: LOCKED_SHOPS,
  queue_ctid: "workshop_claim.queue_ctids",
  due_from: "workshop_claim.due_from",
  backlog_ctid: "workshop_claim.backlog_ctids",
  turn: "workshop_claim.turns"
} as const

/** The setting in which a transaction stores the number of its claim. */
const CLAIM_NUMBER_SETTING = "workshop_claim.number"

/** Selects the shops `l` with their queues into the settings, in their order. */
const storeQueues = (shops: string, otherSettings = "") =>
  `select ${Object.entries(QUEUE_SETTINGS)
    .map(([column, setting]) => `set_config('${setting}', coalesce(array_agg(l.${column})::text, '{}'), true)`)
    .join(", ")}${otherSettings} from (${shops}) l`

const LOCKED = `current_setting('${LOCKED_SHOPS}')::uuid[]`

/** The stored shops and their queues, as rows `s`. */
const LOCKED_QUEUES = `unnest(${LOCKED}, current_setting('${QUEUE_SETTINGS.queue_ctid}')::tid[], current_setting('${QUEUE_SETTINGS.due_from}')::bigint[],
    current_setting('${QUEUE_SETTINGS.backlog_ctid}')::tid[], current_setting('${QUEUE_SETTINGS.turn}')::bigint[])
    with ordinality s (shop_id, queue_ctid, due_from, backlog_ctid, turn, place)`

/**
 * Makes the shops ready that have a delivery due by $1. All ready shops have the same `next_claim_at`, so that an index has
 * them in the order of their turns.
 */
export const MAKE_READY = `update workshop.delivery_queue t set next_claim_at = ${READY} from (
    select shop_id from workshop.delivery_queue where next_claim_at > ${BACKLOGGED} and next_claim_at <= $1
    order by next_claim_at limit ${MAX_SHOPS_MADE_READY} for update skip locked
  ) d where t.shop_id = d.shop_id`

const readyQueues = (lock: string, otherSettings = "") => `with waiting as (
    select t.shop_id, t.ctid as queue_ctid, t.due_from, null::tid as backlog_ctid, t.turn
    from workshop.delivery_queue t join workshop.webhook w on w.shop_id = t.shop_id
    where t.next_claim_at = ${READY} order by t.next_claim_at, t.turn limit $1 ${lock}
  ), backlogged as (
    select t.shop_id, t.ctid as queue_ctid, t.due_from, r.ctid as backlog_ctid, r.turn
    from workshop.backlogged_queue r join workshop.delivery_queue t on t.shop_id = r.shop_id and t.next_claim_at = ${BACKLOGGED} join workshop.webhook w on w.shop_id = r.shop_id
    where r.turn > 0 order by r.turn limit $1 ${lock}
  ) ${storeQueues("select * from waiting union all select * from backlogged order by turn", otherSettings)}`

/**
 * Locks the ready shops that were served longest ago, at most $1 that are not backlogged and $1 that are,
 * each in the order of an index. A shop that another process has locked is skipped. The statement locks webhooks, not
 * queues, so that results of deliveries, which write queues, can be saved during a claim.
 *
 * The statement also numbers the claim, with at least $2. The number is the time on the database's clock, so that the
 * claims of all processes have one order even if the processes' clocks differ.
 */
export const LOCK_READY_QUEUES = readyQueues(
  "for no key update of w skip locked",
  `, set_config('${CLAIM_NUMBER_SETTING}', greatest(${DATABASE_TIME}, $2::bigint)::text, true)::double precision as number`
)

/** Stores the ready shops in the settings without locking them, for {@link SELECT_NEXT_TURNS}. */
export const STORE_READY_QUEUES = readyQueues("")

/**
 * Locks the queues of the stored shops. Skips a queue that another transaction is writing or has written since, so
 * that the newer value stays.
 */
export const LOCK_QUEUES =
  storeQueues(`select t.shop_id, t.ctid as queue_ctid, t.due_from, s.backlog_ctid, s.turn from ${LOCKED_QUEUES}
    join workshop.delivery_queue t on t.ctid = s.queue_ctid and t.shop_id is not distinct from s.shop_id order by s.place for update of t skip locked`)

/** Locks the queues of the earliest shops that may have a delivery due by $1. */
export const LOCK_FIRST_QUEUES =
  storeQueues(`select t.shop_id, t.ctid as queue_ctid, t.due_from, r.backlog_ctid, coalesce(r.turn, t.turn) as turn from workshop.delivery_queue t
    left join lateral (
      select r.ctid as backlog_ctid, r.turn from workshop.backlogged_queue r where r.shop_id = t.shop_id and t.next_claim_at = ${BACKLOGGED} limit 1
    ) r on true
    where t.next_claim_at <= $1 order by t.next_claim_at, t.turn limit $2 for update of t skip locked`)

/**
 * A lease that expired longer ago than this does not count as in flight, because it has been ended or its process is
 * dead.
 */
const MIN_ENDED_LEASE_AGE_MS = 2 * delivery_lease_ms

/**
 * The stored shops, with their tickets that have a delivery in flight (`busy`), the number of deliveries that this
 * transaction claimed (`served`), and the number that may still be claimed (`room`), which is 0 if the webhook is off.
 * Only leases from an instant on are read, because while another transaction holds an old snapshot, the index still has
 * the leases of all deliveries that ended since.
 */
const openShops = (
  lease_now: string
) => `select s.shop_id, s.queue_ctid, s.place, s.due_from, s.backlog_ctid, s.turn, w.generation, w.enabled_at,
    case when ${isWebhookOn("w")} then greatest(${deliveries_in_flight_per_shop} - f.in_flight, 0) else 0 end as room, f.busy, f.served
  from ${LOCKED_QUEUES}
  join workshop.webhook w on w.shop_id = s.shop_id
  cross join lateral (
    select count(*)::integer as in_flight, coalesce(array_agg(d.ticket_id) filter (where d.ticket_id is not null), '{}') as busy,
      count(*) filter (where d.xmin = pg_current_xact_id()::xid) as served
    from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until > ${leaseTime(lease_now)} - ${MIN_ENDED_LEASE_AGE_MS}
  ) f`

/** The condition that a delivery `d` of the shop `open` waits and its ticket has no delivery in flight. */
const WAITING = `d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy))`

/**
 * The kinds of deliveries, live and replayed. One part of the plan serves both, because each scan costs time before its
 * first row.
 */
const BOTH_KINDS = "(values (false), (true)) k (is_replay)"

/**
 * The deliveries of the kind `k` from before the webhook was last turned on. They became due at that moment, in the
 * order of their events.
 */
const RELEASED_DELIVERIES = `(
    select d.event_id, d.ticket_id, d.seq, ${releasedAt("open")} as due_at, k.is_replay
    from generate_series(1, open.generation - 1) g (generation)
    cross join lateral (
      select * from workshop.delivery d where ${WAITING} and d.is_replay = k.is_replay and d.generation = g.generation
      order by d.seq limit ${CANDIDATES_PER_SLOT} * open.room
    ) d where ${releasedAt("open")} <= $1)`

/** The due deliveries of the kind `k` from after the webhook was last turned on. */
const DUE_DELIVERIES = `(
    select d.event_id, d.ticket_id, d.seq, d.due_at, k.is_replay
    from workshop.delivery d where ${WAITING} and d.is_replay = k.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from and d.due_at <= $1
    order by d.due_at, d.seq limit ${CANDIDATES_PER_SLOT} * open.room)`

/**
 * The condition that a delivery `d` waits, in a form for which the planner uses the primary key and not the index of
 * waiting deliveries.
 */
const WAITS_BY_KEY = "coalesce(d.lease_until, 0) = 0"

/** The claimable deliveries of the stored shops, each with its rank in its shop. */
const CLAIMABLE_DELIVERIES = `open as (${openShops("$3")}), claimable as (
    select open.shop_id, open.place, open.turn, d.event_id, d.rank
    from open cross join lateral (
      select one.*, row_number() over (order by ${claimOrderOf("one")}) as rank from (
        select distinct on (coalesce(c.ticket_id, c.event_id)) c.*
        from ${BOTH_KINDS} cross join lateral (${RELEASED_DELIVERIES} union all ${DUE_DELIVERIES}) c
        order by coalesce(c.ticket_id, c.event_id), ${claimOrderOf("c")}
      ) one
    ) d where d.rank <= open.room
  )`

/**
 * Selects the deliveries that a claim of at most $2 at $1 would take, with their rank in their shop and the shop's
 * turn, without claiming them.
 */
export const SELECT_NEXT_TURNS = `with ${CLAIMABLE_DELIVERIES}
  select c.shop_id, c.rank::integer - 1 as rank, c.turn::double precision as turn from claimable c order by c.rank, c.place limit $2`

/**
 * Claims at most $2 deliveries of the locked shops that are due at $1, with leases from $3 on. In each shop, live
 * deliveries precede replayed ones, then the earliest is first; at most one per ticket is claimed, and at most as many
 * as the shop has room for. One delivery of each shop is claimed before a second one of any shop.
 */
export const CLAIM = `with ${CLAIMABLE_DELIVERIES}, picked as (
    select c.*, row_number() over (order by c.rank, c.place) as n from claimable c order by c.rank, c.place limit $2
  ), free as (
    select p.shop_id, p.event_id, p.n, ${leaseTime("$3")} as leased_at from picked p cross join lateral (
      select from workshop.delivery d where d.shop_id = p.shop_id and d.event_id = p.event_id and ${WAITS_BY_KEY} for update skip locked
    ) d
  ), leased as (
    update workshop.delivery d set token = d.token + 1, lease_until = f.leased_at + ${delivery_lease_ms}
    from free f where d.shop_id = f.shop_id and d.event_id = f.event_id
    returning d.shop_id, d.event_id, d.token, f.n
  )
  select l.shop_id, l.event_id, l.token::double precision as token, row_to_json(w) as webhook, e.body
  from leased l join workshop.webhook w on w.shop_id = l.shop_id
  join workshop.event e on e.shop_id = l.shop_id and e.id = l.event_id
  order by l.n`

/**
 * SQL of the instant at which a delivery of the shop `open` can next be claimed; null if none can until a delivery or
 * the webhook changes.
 */
const NEXT_DUE_AT = `case when open.room > 0 then least(
    case when open.generation > 1 then (
      select ${releasedAt("open")} from workshop.delivery d where ${WAITING} and d.is_replay in (false, true)
        and ${isReleased("d", "open")} limit 1
    ) end,
    (select d.due_at from workshop.delivery d where ${WAITING} and not d.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from order by d.due_at limit 1),
    (select d.due_at from workshop.delivery d where ${WAITING} and d.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from order by d.due_at limit 1)
  ) end`

/** How much earlier than the time of its claim a `due_from` is at the latest, because the clocks of processes differ. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

/**
 * SQL of the earliest due time of a shop's waiting deliveries, including those of tickets with a delivery in flight.
 */
const earliestDueAt = (
  shop: string,
  is_replay: boolean
) => `(select d.due_at from workshop.delivery d where d.shop_id = ${shop}.shop_id and d.lease_until is null
      and d.is_replay = ${is_replay} and d.generation = ${shop}.generation and d.due_at >= ${shop}.due_from order by d.due_at limit 1)`

/**
 * One in this many claims updates `due_from`. Until then, claims read past the index entries of deliveries that ended
 * since.
 */
export const CLAIMS_PER_DUE_FROM_UPDATE = 16

/** SQL of a turn behind all others, for a shop that this transaction served. */
const turnAfter = (shop: string) =>
  `nullif(current_setting('${CLAIM_NUMBER_SETTING}', true), '')::bigint * ${TURNS_PER_CLAIM} + (${shop}.served - 1) * ${TURNS_PER_CLAIM / deliveries_in_flight_per_shop} + ${shop}.place`

/**
 * The stored shops, with the instant at which each is ready next and its new turn. `offset` keeps the planner from
 * computing the instant twice. Only a queue that is written gets a new `due_from`, because computing it takes as long
 * again.
 */
const RESCHEDULED_SHOPS = `rescheduled as (
    select shop.*,
      case when shop.served > 0 then ${turnAfter("shop")} else shop.turn end as new_turn,
      case when shop.is_written and $1::bigint >= 0 then least(${earliestDueAt("shop", false)}, ${earliestDueAt("shop", true)}, $1::bigint - ${MAX_CLOCK_DIFFERENCE_MS}) end as earliest
    from (
      select with_readiness.*, not is_ready or (backlog_ctid is null and served > 0) or (backlog_ctid is not null and $3::boolean) as is_written
      from (
        select with_next.*, next <= $1 is true as is_ready
        from (select open.*, ${NEXT_DUE_AT} as next from (${openShops("$2")}) open offset 0) with_next
      ) with_readiness
    ) shop
  )`

const ENTER_BACKLOG = `insert into workshop.backlogged_queue (shop_id, turn)
  select s.shop_id, s.new_turn from rescheduled s where s.backlog_ctid is null and s.is_ready and s.served > 0`

const rescheduleSql = (others: string) => `with ${RESCHEDULED_SHOPS}, moved as (
    update workshop.backlogged_queue r set turn = s.new_turn from rescheduled s
    where r.ctid = s.backlog_ctid and r.shop_id is not distinct from s.shop_id and s.is_ready and s.served > 0
  ), ended as (
    delete from workshop.backlogged_queue r using (
      select d.shop_id, d.ctid as backlog_ctid from rescheduled s
      cross join lateral (select d.shop_id, d.ctid from workshop.backlogged_queue d where d.shop_id = s.shop_id for update) d
      where (s.backlog_ctid is null) = s.is_ready and (s.served > 0 or not s.is_ready)
    ) g where r.ctid = g.backlog_ctid and r.shop_id is not distinct from g.shop_id
  )${others}
  update workshop.delivery_queue t set
    next_claim_at = case when s.is_ready then ${BACKLOGGED} else coalesce(s.next, ${NEVER}) end,
    turn = s.new_turn,
    due_from = coalesce(s.earliest, t.due_from)
  from rescheduled s where t.ctid = s.queue_ctid and t.shop_id is not distinct from s.shop_id and s.is_written`

/**
 * Writes when each locked shop is ready next: now if a delivery is due by $1, and not until a delivery or the webhook
 * changes if none can be claimed. A shop that this transaction served goes behind all others. If it stays ready, it is
 * backlogged, and its row in `delivery_queue` is not written again: while another transaction holds an old snapshot,
 * the unique index leads to every version of a row, and each new version is compared with all of them.
 */
export const RESCHEDULE_SHOPS = rescheduleSql(`, begun as (${ENTER_BACKLOG})`)

/**
 * {@link RESCHEDULE_SHOPS} without the insertion, for Citus, which cannot update rows by their `ctid` and insert rows
 * in one statement. {@link ENTER_BACKLOGS} must run afterwards, because its rows would conflict with rows that this
 * statement removes.
 */
export const RESCHEDULE_SHOPS_ON_CITUS = rescheduleSql("")

/** Inserts the shops that become backlogged. */
export const ENTER_BACKLOGS = `with ${RESCHEDULED_SHOPS} ${ENTER_BACKLOG}`

/** Selects the `next_claim_at` of the first shop if it is at most $1, and whether this transaction has locked the shop. */
export const FIRST_QUEUE = `select next_claim_at::double precision as due_at, shop_id = any (${LOCKED}) as is_locked
  from workshop.delivery_queue where next_claim_at <= $1 order by next_claim_at, turn limit 1`

/** Ends at most $2 leases that expired by $1, so that their deliveries can be claimed again. */
export const RECLAIM = `update workshop.delivery d set lease_until = null from (
    select shop_id, event_id from workshop.delivery where lease_until >= 0 and lease_until <= ${leaseTime("$1")} limit $2 for update skip locked
  ) e where d.shop_id = e.shop_id and d.event_id = e.event_id
  returning d.shop_id`

/** Selects at most $1 unfinished replays, oldest first. */
export const OPEN_REPLAYS = "select shop_id, id from workshop.replay where not is_done order by created_at, id limit $1"
