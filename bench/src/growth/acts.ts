import type { TicketId } from "@workshop/core"
import { Deliveries, type Store } from "@workshop/core/store"
import { Effect } from "effect"
import { changeStatus } from "../../../packages/core/dist/decisions/changeStatus.js"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { run, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { answered, record } from "../../../packages/core/dist/testing/TestDispatcher.js"
import type { Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import type { Cluster } from "../pg/Cluster.js"
import { filled, shopId } from "./Queue.js"
import { fillTickets } from "./tickets.js"

const SHOPS = 200
/** Of each act, after as many for a warm-up. */
const ACTS = 4_000

/** The writes of an act: bytes of WAL without images of whole pages, rows, and bytes of tables and of indexes. */
export interface Written {
  readonly wal: number
  readonly rows: number
  readonly table: number
  readonly index: number
}

/** Images of whole pages are left out: a page has one for each checkpoint, however many acts change it until the next. */
const WAL = `select coalesce(sum(record_size), 0)::double precision as bytes from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`

/** Of indexes the bytes that their entries take: their pages split many at once, so that the files of two sizes grow at different times. */
const SIZES = `select sum(n_tup_ins + n_tup_upd + n_tup_del)::double precision as rows,
    (select sum(pg_relation_size(c.oid)) from pg_class c where c.relnamespace = 'workshop'::regnamespace and c.relkind = 'r')::double precision as table,
    (select sum(case when x.leaf_pages = 0 then 0 else x.leaf_pages * 8192 * x.avg_leaf_density / 100 end)
      from (
        select i.indexrelid as oid from pg_index i join pg_class c on c.oid = i.indrelid join pg_class b on b.oid = i.indexrelid
        join pg_am a on a.oid = b.relam
        where c.relnamespace = 'workshop'::regnamespace and c.relkind = 'r' and a.amname = 'btree' offset 0
      ) i, pgstatindex(i.oid::regclass) x)::double precision as index
  from pg_stat_user_tables`

/** A connection of the server reports its counts of rows after it was idle for ten seconds. */
const TOLD_AFTER = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 11_000)))

const place = (session: Session) =>
  Effect.map(session.run<{ lsn: string }>("select pg_current_wal_flush_lsn() as lsn"), ([row]) => row!.lsn)

/** Shops with so many tickets, and each act there, {@link ACTS} times. */
const actsBeside = (database: Cluster["database"], tickets: number) =>
  Effect.gen(function* () {
    const shops = { shops: SHOPS, waiting: 0, each: 0 }
    const { clock, context, session } = yield* filled(yield* database(`acts_${tickets}`), shops)
    yield* fillTickets(session, clock.unsafeCurrentTimeMillis(), SHOPS, tickets)
    for (const extension of ["pg_walinspect", "pgstattuple"])
      yield* session.run(`create extension if not exists ${extension}`)
    const deliveries = yield* Effect.provide(Deliveries, context)
    const made: Array<readonly [number, TicketId]> = []
    let n = 0
    const many = <A, E, R>(act: Effect.Effect<A, E, R>) =>
      Effect.forEach(Array.from({ length: ACTS }), () => act, { concurrency: 16, discard: true })
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
    const here = <A, E>(work: Effect.Effect<A, E, Store>) =>
      work.pipe(Effect.provide(context), Effect.withClock(clock)) as Effect.Effect<unknown, unknown>
    const again = Effect.sync(() => {
      n = 0
    })
    const acts = {
      "create with a webhook": here(many(create)),
      delivery: here(deliver),
      "status change with a webhook": Effect.zipRight(again, here(many(change)))
    }
    return { tickets, session, acts }
  })

/** Does an act many times, and answers the bytes of WAL that it wrote. */
const walOf = (session: Session, work: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const from = yield* place(session)
    yield* work
    const [row] = yield* session.run<{ bytes: number }>(WAL, [from, yield* place(session)])
    return row!.bytes
  })

const sizesOf = (session: Session) => Effect.map(session.run<Omit<Written, "wal">>(SIZES), ([row]) => row!)

/** The writes of each act, in databases with so many tickets: the acts take turns, so that they wait for the counts of rows together. */
export const writtenByActs = (database: Cluster["database"], tickets: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const all = yield* Effect.forEach(tickets, (n) => actsBeside(database, n))
    for (const { acts } of all) yield* Effect.zipRight(acts["create with a webhook"], acts.delivery)
    yield* TOLD_AFTER
    let before = yield* Effect.forEach(all, ({ session }) => sizesOf(session))
    const names = Object.keys(all[0]!.acts) as ReadonlyArray<keyof (typeof all)[number]["acts"]>
    return yield* Effect.forEach(names, (act) =>
      Effect.gen(function* () {
        const wal = yield* Effect.forEach(all, ({ session, acts }) => walOf(session, acts[act]))
        yield* TOLD_AFTER
        const after = yield* Effect.forEach(all, ({ session }) => sizesOf(session))
        const each = all.map(({ tickets }, i) => {
          const grown = (name: keyof Omit<Written, "wal">) => (after[i]![name] - before[i]![name]) / ACTS
          return { tickets, wal: wal[i]! / ACTS, rows: grown("rows"), table: grown("table"), index: grown("index") }
        })
        before = after
        return { act, each }
      })
    )
  }).pipe(Effect.scoped)
