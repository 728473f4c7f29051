import { type Instant, Limits, type ShopId } from "@workshop/core"
import { claimOrder, LAST_INSTANT, ServiceLimits, TURNS_PER_CLAIM } from "@workshop/core/store"
import { Clock } from "effect"
import type { Statement } from "../connection/Statement.js"

const realClock = Clock.make()
let lastJoined = 0

/** A number for a shop that joins the queue: it rises with real time, in microseconds, and with every call. */
const nextJoined = (): number => {
  lastJoined = Math.max(lastJoined + 1, realClock.unsafeCurrentTimeMillis() * 1_000)
  return lastJoined
}

/**
 * The `look_at` of shops that were served and still have something due: their place is in `delivery_round`. Nodes of the release before
 * take it for an instant long past, and make such a shop ready again.
 */
const IN_ROUND = 1

/** A shop that was never served comes before all that were; among themselves they keep the order in which they joined. */
const NEVER_SERVED = Number.MIN_SAFE_INTEGER

/** From when on a shop may have something due, and before when nothing of it waits: see the columns of `delivery_turn`. */
export interface Turn {
  readonly look_at: Instant
  readonly due_from: Instant
}

// While somebody holds a snapshot, what is written anew stays beside what it replaced, and each claim passes over it. So a turn
// that stays as it is gets its lock alone, for which claims wait too, and no new row.

/** Lets the queue be looked at for shops of which something may be due from an instant on. */
export const scheduleTurns = (turns: ReadonlyMap<ShopId, Turn>): Statement => ({
  name: "put delivery_turn",
  text: `insert into workshop.delivery_turn (shop_id, look_at, due_from, turn)
    select * from (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) u (shop_id, look_at, due_from, turn) order by 1) q
    on conflict (shop_id) do update set
      look_at = case when delivery_turn.look_at = ${IN_ROUND} then ${IN_ROUND} else least(delivery_turn.look_at, excluded.look_at) end,
      due_from = least(delivery_turn.due_from, excluded.due_from)
    where delivery_turn.look_at > greatest(excluded.look_at, ${IN_ROUND}) or delivery_turn.due_from > excluded.due_from`,
  values: [
    [...turns.keys()],
    [...turns.values()].map(({ look_at }) => look_at),
    [...turns.values()].map(({ due_from }) => due_from),
    [...turns.keys()].map(() => NEVER_SERVED + nextJoined())
  ]
})

/**
 * Lets the queue be looked at anew for shops of which something was on its way, so that their rows are there. Each turn is locked even if
 * the shop is ready: a claim that holds the lock may have looked already, and then writes that nothing of the shop can be claimed. `offset`
 * keeps the planner from comparing `look_at` before the lock, when it is still the one of before that claim.
 */
export const wakeTurns = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "wake delivery_turn",
  text: `update workshop.delivery_turn t set look_at = 0 from (
      select l.shop_id, l.look_at from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
      cross join lateral (select * from workshop.delivery_turn d where d.shop_id = q.shop_id offset 0 for no key update) l
    ) q where t.shop_id = q.shop_id and q.look_at > ${IN_ROUND}`,
  values: [[...shop_ids]]
})

/** Lets the queue be looked at from its beginning for shops of which something was put back. */
export const resetTurns = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "reset delivery_turn",
  text: `update workshop.delivery_turn t set look_at = case when t.look_at = ${IN_ROUND} then ${IN_ROUND} else 0 end, due_from = 0
    from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
    where t.shop_id = q.shop_id`,
  values: [[...shop_ids]]
})

/** Waits for claims of shops whose webhooks are removed next. A statement that waited itself would not see what those claims wrote. */
export const lockWebhooks = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "lock webhook",
  text: "select from workshop.webhook where shop_id = any($1::uuid[]) order by shop_id for update",
  values: [[...shop_ids]]
})

/** Takes shops out of the queue that have no webhook any more. */
export const removeTurns = (shop_ids: ReadonlySet<ShopId>): ReadonlyArray<Statement> =>
  ["delivery_round", "delivery_turn"].map((table) => ({
    name: `end ${table}`,
    text: `delete from workshop.${table} where shop_id = any($1::uuid[])`,
    values: [[...shop_ids]]
  }))

const { delivery_lease_ms } = ServiceLimits
const { deliveries_in_flight_per_shop } = Limits

/** In which order the deliveries of a shop go, of an alias: as core has it. */
const inOrder = (alias: string) => claimOrder.map((field) => `${alias}.${field}`).join(", ")

/** The end of time: nothing of the shop is to be looked at until something changes. */
const NEVER = String(LAST_INSTANT)

/** How many waiting deliveries of a shop are looked at for each that may go: some may be of the same ticket. */
const CANDIDATES_PER_SLOT = 4

/** Milliseconds on the database's clock. */
const DATABASE_TIME = "(extract(epoch from statement_timestamp()) * 1000)::bigint"

/** Milliseconds on the clock by which leases are counted: the given ones, else the database's. */
const leaseTime = (given: string) => `coalesce(${given}::bigint, ${DATABASE_TIME})`

/** How many shops one statement makes ready at most. */
export const MOST_MADE_READY = 10_000

/** The setting in which a transaction keeps the shops that it has locked, so that its later statements can read them. */
const LOCKED_SHOPS = "workshop_claim.shops"

/**
 * The settings of their turns, in the same order. A turn is found by its place in the table, because while another transaction holds a
 * snapshot, an index would lead to every version of the shop's turn since. The shop is compared so that no index serves that.
 */
const KEPT = {
  shop_id: LOCKED_SHOPS,
  at: "workshop_claim.turns",
  due_from: "workshop_claim.due_from",
  round_at: "workshop_claim.rounds",
  turn: "workshop_claim.places"
} as const

/** Where a transaction keeps the number of its claim. */
const CLAIM_NUMBER = "workshop_claim.number"

/** Keeps some shops `l`, with their turns, in their order. */
const keeping = (shops: string, alsoKept = "") =>
  `select ${Object.entries(KEPT)
    .map(([column, setting]) => `set_config('${setting}', coalesce(array_agg(l.${column})::text, '{}'), true)`)
    .join(", ")}${alsoKept} from (${shops}) l`

const LOCKED = `current_setting('${LOCKED_SHOPS}')::uuid[]`

/** The locked shops and their turns. */
const LOCKED_TURNS = `unnest(${LOCKED}, current_setting('${KEPT.at}')::tid[], current_setting('${KEPT.due_from}')::bigint[],
    current_setting('${KEPT.round_at}')::tid[], current_setting('${KEPT.turn}')::bigint[])
    with ordinality s (shop_id, at, due_from, round_at, turn, place)`

/**
 * Makes the shops ready of which something has become due by $1. Ready shops are those with `look_at` 0, so that one index has them in
 * the order of their turns, however many they are; and those of the round, which were served since.
 */
export const MAKE_READY = `update workshop.delivery_turn t set look_at = 0 from (
    select shop_id from workshop.delivery_turn where look_at > ${IN_ROUND} and look_at <= $1
    order by look_at limit ${MOST_MADE_READY} for update skip locked
  ) d where t.shop_id = d.shop_id`

const dueTurns = (lock: string, alsoKept = "") => `with waiting as (
    select t.shop_id, t.ctid as at, t.due_from, null::tid as round_at, t.turn
    from workshop.delivery_turn t join workshop.webhook w on w.shop_id = t.shop_id
    where t.look_at = 0 order by t.look_at, t.turn limit $1 ${lock}
  ), round as (
    select t.shop_id, t.ctid as at, t.due_from, r.ctid as round_at, r.turn
    from workshop.delivery_round r join workshop.delivery_turn t on t.shop_id = r.shop_id and t.look_at = ${IN_ROUND} join workshop.webhook w on w.shop_id = r.shop_id
    where r.turn > 0 order by r.turn limit $1 ${lock}
  ) ${keeping("select * from waiting union all select * from round order by turn", alsoKept)}`

/**
 * Locks the ready shops that were served longest ago, at most $1. A shop that another process has locked is skipped. The statement locks
 * webhooks, not turns, so that acknowledgements, which write turns, can be saved beside a claim. Both kinds of ready shops are read,
 * since one index has each in its order.
 *
 * It also numbers the claim, at least $2. The number is the time on the database's clock, so that the claims of all processes have one
 * order, however far apart their own clocks are.
 */
export const LOCK_DUE_TURNS = dueTurns(
  "for no key update of w skip locked",
  `, set_config('${CLAIM_NUMBER}', greatest(${DATABASE_TIME}, $2::bigint)::text, true)::double precision as number`
)

/** Keeps the ready shops without locking them, to see what they have. */
export const KEEP_DUE_TURNS = dueTurns("")

/** Locks the turns of the locked shops. A turn that another transaction writes now or has just written is skipped, because that one sets it. */
export const LOCK_TURNS = keeping(`select t.shop_id, t.ctid as at, t.due_from, s.round_at, s.turn from ${LOCKED_TURNS}
    join workshop.delivery_turn t on t.ctid = s.at and t.shop_id is not distinct from s.shop_id order by s.place for update of t skip locked`)

/** Locks the turns of the earliest shops that may have something due by $1. */
export const LOCK_FIRST_TURNS =
  keeping(`select t.shop_id, t.ctid as at, t.due_from, r.round_at, coalesce(r.turn, t.turn) as turn from workshop.delivery_turn t
    left join lateral (
      select r.ctid as round_at, r.turn from workshop.delivery_round r where r.shop_id = t.shop_id and t.look_at = ${IN_ROUND} limit 1
    ) r on true
    where t.look_at <= $1 order by t.look_at, t.turn limit $2 for update of t skip locked`)

/** Leases that ended so long ago were put back since, or are of no process that is alive. */
const LEASE_LONG_ENDED_MS = 2 * delivery_lease_ms

/**
 * The locked shops, in their order, with what they have on their way. There is room for nothing where the webhook is off. Leases are
 * looked for from an instant on: while somebody holds a snapshot, those of all that was delivered since are still in the index.
 */
const open = (
  lease_now: string
) => `select s.shop_id, s.at, s.place, s.due_from, s.round_at, s.turn, w.generation, w.released_at,
    case when w.off_reason is null then greatest(${deliveries_in_flight_per_shop} - f.in_flight, 0) else 0 end as room, f.busy, f.served
  from ${LOCKED_TURNS}
  join workshop.webhook w on w.shop_id = s.shop_id
  cross join lateral (
    select count(*)::integer as in_flight, coalesce(array_agg(d.ticket_id) filter (where d.ticket_id is not null), '{}') as busy,
      count(*) filter (where d.xmin = pg_current_xact_id()::xid) as served
    from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until > ${leaseTime(lease_now)} - ${LEASE_LONG_ENDED_MS}
  ) f`

/** A delivery `d` of the shop `o` that waits, and whose ticket has none on its way. */
const WAITING = `d.shop_id = o.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (o.busy))`

/** Live or replayed. One plan serves both kinds, because each scan of a plan costs time before its first row. */
const BOTH_KINDS = "(values (false), (true)) k (is_replay)"

/** Of the kind `k`: those of the generations before the webhook was last turned on, all due then and in the order of their events. */
const RELEASED = `(
    select d.event_id, d.ticket_id, d.seq, o.released_at as due_at, k.is_replay
    from generate_series(1, o.generation - 1) g (generation)
    cross join lateral (
      select * from workshop.delivery d where ${WAITING} and d.is_replay = k.is_replay and d.generation = g.generation
      order by d.seq limit ${CANDIDATES_PER_SLOT} * o.room
    ) d where o.released_at <= $1)`

/** Of the kind `k`: those whose own time has come. */
const DUE = `(
    select d.event_id, d.ticket_id, d.seq, d.due_at, k.is_replay
    from workshop.delivery d where ${WAITING} and d.is_replay = k.is_replay and d.generation = o.generation
      and d.due_at >= o.due_from and d.due_at <= $1
    order by d.due_at, d.seq limit ${CANDIDATES_PER_SLOT} * o.room)`

/** A delivery `d` that waits, said so that its key finds it: by an index of all that wait, the planner would go through those of the shop. */
const WAITS = "coalesce(d.lease_until, 0) = 0"

/** The deliveries of the locked shops that can be claimed, each delivery with its place among those of its shop. */
const FOUND = `open as (${open("$3")}), found as (
    select o.shop_id, o.place, o.turn, d.event_id, d.rank
    from open o cross join lateral (
      select one.*, row_number() over (order by ${inOrder("one")}) as rank from (
        select distinct on (coalesce(c.ticket_id, c.event_id)) c.*
        from ${BOTH_KINDS} cross join lateral (${RELEASED} union all ${DUE}) c
        order by coalesce(c.ticket_id, c.event_id), ${inOrder("c")}
      ) one
    ) d where d.rank <= o.room
  )`

/** The deliveries that a claim of $2 at $1 would get, without claiming them: each with its rank among those of its shop, and with the turn of that. */
export const SEE_TURNS = `with ${FOUND}
  select f.shop_id, f.rank::integer - 1 as rank, f.turn::double precision as turn from found f order by f.rank, f.place limit $2`

/**
 * Claims what is due of the locked shops, at $1 and at most $2, for a lease from $3 on: live before replayed, the earliest first, one of a
 * ticket, as many of a shop as there is room for, and each shop one before any has two.
 */
export const CLAIM = `with ${FOUND}, picked as (
    select f.*, row_number() over (order by f.rank, f.place) as n from found f order by f.rank, f.place limit $2
  ), free as (
    select p.shop_id, p.event_id, p.n, ${leaseTime("$3")} as leased_at from picked p cross join lateral (
      select from workshop.delivery d where d.shop_id = p.shop_id and d.event_id = p.event_id and ${WAITS} for update skip locked
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

/** When something of the shop `o` could next be claimed; null where nothing could. */
const NEXT = `case when o.room > 0 then least(
    case when o.generation > 1 then (
      select o.released_at from workshop.delivery d where ${WAITING} and d.is_replay in (false, true)
        and d.generation < o.generation limit 1
    ) end,
    (select d.due_at from workshop.delivery d where ${WAITING} and not d.is_replay and d.generation = o.generation
      and d.due_at >= o.due_from order by d.due_at limit 1),
    (select d.due_at from workshop.delivery d where ${WAITING} and d.is_replay and d.generation = o.generation
      and d.due_at >= o.due_from order by d.due_at limit 1)
  ) end`

/** A node of the release before may write what is due earlier than its turn says, by as much as its clock is behind. */
const CLOCKS_APART_MS = 60_000

/** Before when nothing of the shop `o` waits, whatever its ticket has on its way. */
const earliest = (
  is_replay: boolean
) => `(select d.due_at from workshop.delivery d where d.shop_id = o.shop_id and d.lease_until is null
      and d.is_replay = ${is_replay} and d.generation = o.generation and d.due_at >= o.due_from order by d.due_at limit 1)`

/** Of so many claims one writes from when on its shops have something due: the others look at what was delivered since. */
export const DUE_FROM_EVERY = 16

/**
 * The locked shops, and when each is to be looked at next. `offset` keeps the planner from looking for that twice, and only a turn that is
 * written gets a new `due_from`, which is as much work again.
 */
const LOOKED = `looked as (
    select o.*,
      case when o.served > 0 then nullif(current_setting('${CLAIM_NUMBER}', true), '')::bigint * ${TURNS_PER_CLAIM} + (o.served - 1) * ${TURNS_PER_CLAIM / deliveries_in_flight_per_shop} + o.place else o.turn end as new_turn,
      case when o.is_written and $1::bigint >= 0 then least(${earliest(false)}, ${earliest(true)}, $1::bigint - ${CLOCKS_APART_MS}) end as earliest
    from (
      select o.*, not o.is_ready or (o.round_at is null and o.served > 0) or (o.round_at is not null and $3::boolean) as is_written
      from (
        select o.*, o.next <= $1 is true as is_ready from (select o.*, ${NEXT} as next from (${open("$2")}) o offset 0) o
      ) o
    ) o
  )`

const BEGUN = `insert into workshop.delivery_round (shop_id, turn)
  select l.shop_id, l.new_turn from looked l where l.round_at is null and l.is_ready and l.served > 0`

const rescheduling = (others: string) => `with ${LOOKED}, moved as (
    update workshop.delivery_round r set turn = l.new_turn from looked l
    where r.ctid = l.round_at and r.shop_id is not distinct from l.shop_id and l.is_ready and l.served > 0
  ), ended as (
    delete from workshop.delivery_round r using (
      select d.shop_id, d.ctid as at from looked l
      cross join lateral (select d.shop_id, d.ctid from workshop.delivery_round d where d.shop_id = l.shop_id for update) d
      where (l.round_at is null) = l.is_ready and (l.served > 0 or not l.is_ready)
    ) g where r.ctid = g.at and r.shop_id is not distinct from g.shop_id
  )${others}
  update workshop.delivery_turn t set
    look_at = case when l.is_ready then ${IN_ROUND} else coalesce(l.next, ${NEVER}) end,
    turn = l.new_turn,
    due_from = coalesce(l.earliest, t.due_from)
  from looked l where t.ctid = l.at and t.shop_id is not distinct from l.shop_id and l.is_written`

/**
 * Writes when each locked shop is to be looked at next: it stays ready where something is due by $1; where nothing can be claimed, or the
 * webhook is off, not until something changes. A shop that this transaction served goes behind all others, in the order in which each was
 * served last. As long as it stays ready, its place is in the round and its turn is left alone: while somebody holds a snapshot, the key
 * of turns leads to every version of a row that was not removed yet, and each new one is compared with all of them.
 */
export const RESCHEDULE_SHOPS = rescheduling(`, begun as (${BEGUN})`)

/**
 * The same in two statements, for Citus: it makes no change by the place of a row beside an insertion. The second one comes after the
 * first, which removes rows that would be in its way.
 */
export const RESCHEDULE_SHOPS_APART = rescheduling("")
/** The second of them. */
export const BEGIN_ROUNDS = `with ${LOOKED} ${BEGUN}`

/** When the first shop may have something due, if that is by $1, and whether that shop is locked. */
export const FIRST_TURN = `select look_at::double precision as due_at, shop_id = any (${LOCKED}) as is_locked
  from workshop.delivery_turn where look_at <= $1 order by look_at, turn limit 1`

/** Puts back what was leased until $1, at most $2. */
export const RECLAIM = `update workshop.delivery d set lease_until = null from (
    select shop_id, event_id from workshop.delivery where lease_until >= 0 and lease_until <= ${leaseTime("$1")} limit $2 for update skip locked
  ) e where d.shop_id = e.shop_id and d.event_id = e.event_id
  returning d.shop_id`

/** Replays that have steps to take, oldest first, at most $1. */
export const OPEN_REPLAYS = "select shop_id, id from workshop.replay where not is_done order by created_at, id limit $1"
