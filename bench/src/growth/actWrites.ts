import type { TicketId } from "@workshop/core"
import { Deliveries, type Store } from "@workshop/core/store"
import { Effect } from "effect"
import { changeStatus } from "../../../packages/core/dist/decisions/changeStatus.js"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { runCommand, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { record, statusResult } from "../../../packages/core/dist/testing/TestDispatcher.js"
import type { Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import type { Cluster } from "../pg/Cluster.js"
import { openFilled, shopId } from "./Queue.js"
import { fillTickets } from "./tickets.js"

const SHOPS = 200
/** The number of measured acts of each kind, after as many for a warm-up. */
const ACTS = 4_000

/**
 * The writes of an act: bytes of WAL, changed rows, and the WAL of inserted or updated rows and of new index entries.
 */
export interface ActWrites {
  readonly wal: number
  readonly rows: number
  readonly table: number
  readonly index: number
}

/**
 * Reads the WAL between two positions. Full-page images are left out, because a page has only one for each checkpoint,
 * independent of the number of changes. The sizes of the files are not used, because files grow by many pages at once
 * and shrink when autovacuum truncates them.
 */
const WAL = `select coalesce(sum(bytes), 0)::double precision as wal,
    (count(*) filter (where is_row or is_delete))::double precision as rows,
    coalesce(sum(bytes) filter (where is_row), 0)::double precision as table,
    coalesce(sum(bytes) filter (where is_entry), 0)::double precision as index
  from pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) r cross join lateral (
    select r.record_length - r.fpi_length as bytes,
      r.resource_manager = 'Heap' and r.record_type ~ '^(INSERT|UPDATE|HOT_UPDATE)' as is_row,
      r.resource_manager = 'Heap' and r.record_type = 'DELETE' as is_delete,
      r.resource_manager = 'Btree' and r.record_type ~ '^INSERT' as is_entry
  ) w`

const place = (session: Session) =>
  Effect.map(session.run<{ lsn: string }>("select pg_current_wal_flush_lsn() as lsn"), ([row]) => row!.lsn)

/** Creates shops with a number of tickets, and performs each act {@link ACTS} times. */
const actsBeside = (database: Cluster["database"], tickets: number) =>
  Effect.gen(function* () {
    const shops = { shops: SHOPS, waiting: 0, each: 0 }
    const { clock, context, session } = yield* openFilled(yield* database(`acts_${tickets}`), shops)
    yield* fillTickets(session, clock.unsafeCurrentTimeMillis(), SHOPS, tickets)
    yield* session.run("create extension if not exists pg_walinspect")
    const deliveries = yield* Effect.provide(Deliveries, context)
    const made: Array<readonly [number, TicketId]> = []
    let n = 0
    const many = <A, E, R>(act: Effect.Effect<A, E, R>) =>
      Effect.forEach(Array.from({ length: ACTS }), () => act, { concurrency: 16, discard: true })
    const create = Effect.suspend(() => {
      const shop = (n++ % SHOPS) + 1
      return Effect.map(
        runCommand(createTicket(shopId(shop), ticketInput(), { via: "api", foundWords: [] })),
        ({ id }) => made.push([shop, id as TicketId])
      )
    })
    const change = Effect.suspend(() => {
      const [shop, id] = made[n++ % made.length]!
      return runCommand(changeStatus(shopId(shop), id, "ready"))
    })
    const deliver = Effect.gen(function* () {
      for (let left = ACTS; left > 0; ) {
        const claims = yield* deliveries.claim(clock.unsafeCurrentTimeMillis(), Math.min(64, left))
        if (claims.length === 0) return
        yield* Effect.forEach(claims, (claim) => record(claim, statusResult(200)), {
          concurrency: 16,
          discard: true
        })
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

/** Runs work of many acts, and returns the WAL, rows and bytes that each act wrote. */
const writtenBy = (session: Session, work: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const from = yield* place(session)
    yield* work
    const [all] = yield* session.run<ActWrites>(WAL, [from, yield* place(session)])
    const each = (amount: keyof ActWrites) => all![amount] / ACTS
    return { wal: each("wal"), rows: each("rows"), table: each("table"), index: each("index") }
  })

/** The writes of each act, in databases with so many tickets. */
export const writtenByActs = (database: Cluster["database"], tickets: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const all = yield* Effect.forEach(tickets, (n) => actsBeside(database, n))
    for (const { acts } of all) yield* Effect.zipRight(acts["create with a webhook"], acts.delivery)
    const names = Object.keys(all[0]!.acts) as ReadonlyArray<keyof (typeof all)[number]["acts"]>
    return yield* Effect.forEach(names, (act) =>
      Effect.gen(function* () {
        const each = yield* Effect.forEach(all, ({ tickets, session, acts }) =>
          Effect.map(writtenBy(session, acts[act]), (written) => ({ tickets, ...written }))
        )
        return { act, each }
      })
    )
  }).pipe(Effect.scoped)
