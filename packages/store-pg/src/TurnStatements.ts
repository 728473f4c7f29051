import type { Instant, ShopId } from "@workshop/core"
import type { Statement } from "./Statement.js"

/** Turns are numbered with room between, so that the shops of one claim can be put in order behind all others. */
export const TURN_STEP = 100_000

/**
 * The `look_at` of shops that were served and still have something due: their place is in `delivery_round`. Nodes of the release before
 * take it for an instant long past, and make such a shop ready again.
 */
export const IN_ROUND = 1

/** A shop that was never served comes before all that were; among themselves they keep the order in which they joined. */
const NEVER_SERVED = "-4611686018427387904"

/** From when on a shop may have something due, and before when nothing of it waits: see the columns of `delivery_turn`. */
export interface Turn {
  readonly look_at: Instant
  readonly due_from: Instant
}

// While somebody holds a snapshot, what is written anew stays beside what it replaced, and each claim passes over it. So a turn
// that stays as it is gets its lock alone, for which claims wait too, and no new row.

/** Lets the queue be looked at for shops of which something may be due from an instant on. */
export const turnsNamed = (turns: ReadonlyMap<ShopId, Turn>): Statement => ({
  name: "put delivery_turn",
  text: `insert into delivery_turn (shop_id, look_at, due_from, turn)
    select q.shop_id, q.look_at, q.due_from, nextval('delivery_turns') + ${NEVER_SERVED}
    from (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) u (shop_id, look_at, due_from) order by 1) q
    on conflict (shop_id) do update set
      look_at = case when delivery_turn.look_at = ${IN_ROUND} then ${IN_ROUND} else least(delivery_turn.look_at, excluded.look_at) end,
      due_from = least(delivery_turn.due_from, excluded.due_from)
    where delivery_turn.look_at > greatest(excluded.look_at, ${IN_ROUND}) or delivery_turn.due_from > excluded.due_from`,
  values: [
    [...turns.keys()],
    [...turns.values()].map(({ look_at }) => look_at),
    [...turns.values()].map(({ due_from }) => due_from)
  ]
})

/** Lets the queue be looked at anew for shops of which something was on its way, so that their rows are there. */
export const turnsCalled = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "call delivery_turn",
  text: `update delivery_turn t set look_at = 0 from (
      select l.shop_id, l.look_at from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
      cross join lateral (select * from delivery_turn d where d.shop_id = q.shop_id for no key update) l
    ) q where t.shop_id = q.shop_id and q.look_at > ${IN_ROUND}`,
  values: [[...shop_ids]]
})

/** Lets the queue be looked at from its beginning for shops of which something was put back. */
export const turnsReset = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "reset delivery_turn",
  text: `update delivery_turn t set look_at = case when t.look_at = ${IN_ROUND} then ${IN_ROUND} else 0 end, due_from = 0
    from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
    where t.shop_id = q.shop_id`,
  values: [[...shop_ids]]
})

/** Takes shops out of the queue that have no webhook any more. */
export const turnsEnded = (shop_ids: ReadonlySet<ShopId>): ReadonlyArray<Statement> =>
  ["delivery_round", "delivery_turn"].map((table) => ({
    name: `end ${table}`,
    text: `delete from ${table} t using (
      select d.shop_id, d.ctid as at from unnest($1::uuid[]) q (shop_id)
      cross join lateral (select d.shop_id, d.ctid from ${table} d where d.shop_id = q.shop_id for update) d
    ) g where t.ctid = g.at and t.shop_id is not distinct from g.shop_id`,
    values: [[...shop_ids]]
  }))
