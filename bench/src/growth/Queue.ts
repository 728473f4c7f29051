import { Entropy, type Instant, Probes, type ShopId } from "@workshop/core"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer } from "effect"
import { openShop } from "../../../packages/core/dist/testing/Fixtures.js"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { BenchClock } from "../create/Workload.js"
import { WARM_UP } from "../pg/WarmUp.js"

/** The id of the `n`th shop that a statement created. */
export const shopId = (n: number) => `10000000-0000-7000-8000-${String(n).padStart(12, "0")}` as ShopId

const SHOP = "('10000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid"

/** The size of a queue of deliveries. */
export interface Backlog {
  readonly shops: number
  /** The number of shops with due deliveries. */
  readonly waiting: number
  /** The number of due deliveries of each of these shops. */
  readonly each: number
}

/** Creates copies of a shop, each with a webhook. The first `waiting` shops have due pings, a millisecond apart. */
const fillQueue = (session: Session, now: Instant, { shops, waiting, each }: Backlog) =>
  Effect.gen(function* () {
    for (const table of ["shop", "shop_head"])
      yield* session.run(
        `insert into ${table} select c.* from (select * from ${table} limit 1) s cross join generate_series(1, $1::integer) n
        cross join lateral jsonb_populate_record(null::${table}, to_jsonb(s) || jsonb_build_object('${table === "shop" ? "id" : "shop_id"}', ${SHOP})) c`,
        [shops]
      )
    yield* session.run(
      `insert into webhook (shop_id, url, secret, failures_in_row, failure_steps_notified, generation, enabled_at)
      select ${SHOP}, 'https://shop.example/', 'whsec_1', 0, 0, 1, 0 from generate_series(1, $1::integer) n`,
      [shops]
    )
    yield* session.run(
      `insert into delivery_queue select ${SHOP}, case when n <= $2 then 0 else 253402300799999 end, n from generate_series(1, $1::integer) n`,
      [shops, waiting]
    )
    const due = `from generate_series(1, $1::integer) n, generate_series(1, $2::integer) k order by k, n`
    const id = "md5(n || ' ' || k)::uuid"
    const at = `${now} - 60000 + k`
    yield* session.run(
      `insert into event (shop_id, id, type, seq, created_at, body) select ${SHOP}, ${id}, 'ping', k, ${at}, '{"type":"ping"}' ${due}`,
      [waiting, each]
    )
    yield* session.run(
      `insert into delivery (shop_id, event_id, type, seq, attempts_made, attempts_since_reset, due_at, generation, is_replay, token)
      select ${SHOP}, ${id}, 'ping', k, 0, 0, ${at}, 1, false, 0 ${due}`,
      [waiting, each]
    )
    yield* session.run("update shop_head set event_seq = $1::integer + 1", [each])
    yield* session.run("vacuum analyze")
    yield* session.run(WARM_UP)
  })

/**
 * Opens a store on a database with a backlog, and a session of that database. The benchmark moves the clock, including
 * the clock of leases.
 */
export const openFilled = (url: string, backlog: Backlog) =>
  Effect.gen(function* () {
    const clock = new BenchClock()
    const leaseClock = Effect.sync(() => clock.unsafeCurrentTimeMillis())
    const around = Layer.mergeAll(Entropy.layer, clock.layer, Probes.layer)
    const store = PgStore.layer({ url, leaseClock }).pipe(Layer.provideMerge(around))
    const context = yield* Layer.build(store)
    yield* Effect.provide(openShop(), context)
    const session = yield* openMigrationSession(url)
    yield* fillQueue(session, clock.unsafeCurrentTimeMillis(), backlog)
    return { clock, context, session }
  })
