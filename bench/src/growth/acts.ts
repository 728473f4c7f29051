import type { TicketId } from "@workshop/core"
import { Deliveries } from "@workshop/core/store"
import { Effect } from "effect"
import { changeStatus } from "../../../packages/core/dist/decisions/changeStatus.js"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { run, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { answered, record } from "../../../packages/core/dist/testing/TestDispatcher.js"
import type { Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import type { Cluster } from "../pg/Cluster.js"
import { filled, shopId } from "./Queue.js"

const SHOPS = 200
/** Of each act, after a warm-up in which each page was written once since the checkpoint. */
const ACTS = 2_000

interface Written {
  readonly wal: number
  readonly rows: number
  readonly index: number
}

const WRITTEN = `select (pg_current_wal_insert_lsn() - '0/0')::double precision as wal,
    (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables)::double precision as rows,
    (select sum(pg_relation_size(indexrelid)) from pg_index i join pg_class c on c.oid = i.indrelid
      where c.relnamespace = 'workshop'::regnamespace and c.relkind = 'r')::double precision as index`

/** A connection of the server tells its counts of rows after it was idle for ten seconds. */
const TOLD_AFTER_MS = 11_000

/** The amounts written so far. */
const written = (session: Session) =>
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, TOLD_AFTER_MS))).pipe(
    Effect.zipRight(session.run<Written>(WRITTEN)),
    Effect.map(([row]) => row!)
  )

/** Bytes of WAL, rows and bytes of index that each act writes. */
export const writtenByActs = (database: Cluster["database"]) =>
  Effect.gen(function* () {
    const { clock, context, session } = yield* filled(yield* database("acts"), { shops: SHOPS, waiting: 0, each: 0 })
    return yield* Effect.gen(function* () {
      const deliveries = yield* Deliveries
      const made: Array<readonly [number, TicketId]> = []
      let n = 0
      const create = Effect.suspend(() => {
        const shop = (n++ % SHOPS) + 1
        return Effect.map(run(createTicket(shopId(shop), ticketInput(), { via: "api", found: [] })), ({ id }) =>
          made.push([shop, id as TicketId])
        )
      })
      const change = Effect.suspend(() => {
        const [shop, id] = made[n++ % made.length]!
        return run(changeStatus(shopId(shop), id, "ready"))
      })
      const deliver = Effect.gen(function* () {
        for (let left = ACTS; left > 0; ) {
          const claims = yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), Math.min(64, left))
          if (claims.length === 0) return
          yield* Effect.forEach(claims, (claim) => record(claim, answered(200)), { concurrency: 16, discard: true })
          left -= claims.length
        }
      })
      const many = <A, E, R>(act: Effect.Effect<A, E, R>) =>
        Effect.forEach(Array.from({ length: ACTS }), () => act, { concurrency: 16, discard: true })
      const rows: Array<{ readonly act: string } & Written> = []
      yield* many(create)
      yield* deliver
      let before = yield* written(session)
      const measured = <E, R>(act: string, work: Effect.Effect<unknown, E, R>) =>
        Effect.gen(function* () {
          yield* work
          const after = yield* written(session)
          const of = (name: keyof Written) => Number(((after[name] - before[name]) / ACTS).toFixed(1))
          rows.push({ act, wal: of("wal"), rows: of("rows"), index: of("index") })
          before = after
        })
      yield* measured("create with a webhook", many(create))
      yield* measured("delivery", deliver)
      n = 0
      yield* measured("status change with a webhook", many(change))
      return rows
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  }).pipe(Effect.scoped)
