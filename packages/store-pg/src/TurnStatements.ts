import type { ShopId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import type { Statement } from "./Statement.js"

/** Turns are numbered with room between, so that the shops of one claim can be put in order behind all others. */
export const TURN_STEP = 100_000

/** A shop that was never served comes before all that were; among themselves they keep the order in which they joined. */
const NEVER_SERVED = "-4611686018427387904"

/** Lets the queue be looked at for shops of which something may be due from an instant on. */
export const turnsNamed = (turns: ReadonlyMap<ShopId, Instant>): Statement => ({
  name: "put delivery_turn",
  text: `insert into delivery_turn (shop_id, look_at, turn)
    select q.shop_id, q.look_at, nextval('delivery_turns') + ${NEVER_SERVED}
    from (select * from unnest($1::uuid[], $2::bigint[]) u (shop_id, look_at) order by 1) q
    on conflict (shop_id) do update set look_at = least(delivery_turn.look_at, excluded.look_at)`,
  values: [[...turns.keys()], [...turns.values()]]
})

/** Lets the queue be looked at anew for shops of which something was on its way, so that their rows are there. */
export const turnsCalled = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "call delivery_turn",
  text: `update delivery_turn t set look_at = 0 from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
    where t.shop_id = q.shop_id`,
  values: [[...shop_ids]]
})

/** Takes shops out of the queue that have no webhook any more. */
export const turnsEnded = (shop_ids: ReadonlySet<ShopId>): Statement => ({
  name: "end delivery_turn",
  text: "delete from delivery_turn t using unnest($1::uuid[]) q (shop_id) where t.shop_id = q.shop_id",
  values: [[...shop_ids]]
})
