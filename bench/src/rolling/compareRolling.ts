import { setTimeout } from "node:timers/promises"
import { Effect, Fiber } from "effect"
import { applyMigrations } from "../../../packages/store-pg/dist/cells/CellMigrations.js"
import { migrations as ourFiles } from "../../../packages/store-pg/dist/migrate/generated/sql.js"
import { migrationsOf, PACKAGE_MIGRATIONS } from "../../../packages/store-pg/dist/migrate/Migration.js"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { quantile } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark } from "../report/Benchmark.js"
import { present, releaseOf, run, ServiceNode } from "./Release.js"
import { addTickets, openSellers, type Seller } from "./Sellers.js"
import { Traffic } from "./Traffic.js"

/** The longest time for which the migration may block a request. */
const MAX_BLOCKED_MS = 200
const PHASE_MS = 8_000
/** The duration of a transaction that locks every table for reading during the migration, like a dump. */
const DUMP_MS = 3_000

const TABLES = ["shop", "shop_head", "ticket", "client_account", "webhook", "delivery"]

/**
 * Migrations that a later release may have: a required column in each table that requests use, and an index on a large
 * table.
 */
const EXPANDING = {
  columns: `-- no transaction
${TABLES.map((table) => `alter table ${table} add column if not exists added_later text not null default 'new';`).join("\n")}`,
  index: `-- no transaction
drop index concurrently if exists added_later;
create index concurrently added_later on ticket (shop_id, created_at);`
}

/** Our migrations, followed by {@link EXPANDING} if `isExpanding`. */
const migrations = (isExpanding: boolean) => {
  const following = Object.entries(EXPANDING).map(([name, sql], i) => [
    `${String(PACKAGE_MIGRATIONS.length + 1 + i).padStart(4, "0")}_${name}.sql`,
    sql
  ])
  return isExpanding ? migrationsOf({ ...ourFiles, ...Object.fromEntries(following) }) : PACKAGE_MIGRATIONS
}

/** The search path finds the tables in the schema of either release. */
const BOTH_SCHEMAS = "set search_path = workshop, public"

/** Holds a transaction that reads every table for {@link DUMP_MS}. */
const heldByDump = (url: string) =>
  Effect.gen(function* () {
    const dump = yield* openMigrationSession(url)
    yield* dump.run(BOTH_SCHEMAS)
    yield* dump.run(`begin; lock table ${TABLES.join(", ")} in access share mode`)
    yield* Effect.promise(() => setTimeout(DUMP_MS))
    yield* dump.run("commit")
  }).pipe(Effect.scoped)

/**
 * The longest time that a request's statement has waited for a table. The migration and the retention, which hold
 * advisory locks, may wait longer.
 */
const WAITED = `select coalesce(max(extract(epoch from clock_timestamp() - waitstart) * 1000), 0)::integer as ms from pg_locks
  where not granted and locktype = 'relation' and pid not in (select pid from pg_locks where locktype = 'advisory')`

/**
 * Runs a migration, and returns the longest time for which it blocked another connection's statement, sampled every few
 * milliseconds.
 */
const watched = <A, E>(migration: Effect.Effect<A, E>, watcher: Session) =>
  Effect.gen(function* () {
    let blocked_ms = 0
    const look = Effect.map(watcher.run<{ ms: number }>(WAITED), ([row]) => {
      blocked_ms = Math.max(blocked_ms, row!.ms)
    })
    const watching = yield* Effect.fork(
      Effect.forever(
        Effect.zipRight(
          look,
          Effect.promise(() => setTimeout(5))
        )
      )
    )
    const start = performance.now()
    const applied = yield* migration
    const took_ms = Math.round(performance.now() - start)
    yield* Fiber.interrupt(watching)
    return { applied, took_ms, blocked_ms }
  })

const tableOf = ({ looks }: Traffic) =>
  [...new Set(looks.map(({ phase }) => phase))].map((phase) => {
    const of = looks.filter((look) => look.phase === phase)
    const ms = of.map((look) => look.ms).sort((a, b) => a - b)
    return {
      phase,
      requests: of.length,
      "p50 ms": Math.round(quantile(ms, 0.5)),
      "p99 ms": Math.round(quantile(ms, 0.99)),
      "longest ms": Math.round(ms.at(-1) ?? 0),
      "answers 503": of.reduce((sum, { unavailable }) => sum + unavailable, 0),
      "broken connections": of.reduce((sum, { broken }) => sum + broken, 0)
    }
  })

/** Reads every acknowledged ticket again. Returns the tickets that differ from their last response. */
const lost = async (traffic: Traffic) => {
  const missing: Array<string> = []
  for (const { id, number, state, key } of traffic.acknowledged.values()) {
    const ticket = await traffic.ask<{ number: number; state: string }>({
      method: "GET",
      path: `/v1/tickets/${id}`,
      key
    })
    if (ticket?.number !== number || ticket.state !== state) missing.push(`ticket ${id} is ${JSON.stringify(ticket)}`)
  }
  return missing
}

const BROKEN: Readonly<Record<string, string>> = {
  "shops whose events have a gap": `select count(*)::integer as n from (
    select from event group by shop_id having count(*) <> max(seq)) gap`,
  "numbers given twice": `select count(*)::integer as n from (
    select from ticket where external_ref is null group by shop_id, number having count(*) > 1) twice`,
  "events without their delivery or attempt": `select count(*)::integer as n from event e
    where not exists (select from delivery d where d.shop_id = e.shop_id and d.event_id = e.id)
      and not exists (select from attempt a where a.shop_id = e.shop_id and a.event_id = e.id)`
}

const broken = (session: Session) =>
  Effect.map(
    Effect.forEach(Object.entries(BROKEN), ([what, sql]) =>
      Effect.map(session.run<{ n: number }>(sql), ([row]) => (row!.n === 0 ? [] : [`${row!.n} ${what}`]))
    ),
    (all) => all.flat()
  )

/** The number of notified clients without an account. Releases before the migration 0027 notify none. */
const walkIns = (session: Session) =>
  Effect.map(
    session.run<{ n: number }>("select count(*)::integer as n from notification where client_id is null"),
    ([row]) => row!.n
  )

interface Asked {
  readonly from: string
  readonly isExpanding: boolean
  readonly tickets: number
}

const rolled = ({ from, isExpanding, tickets }: Asked) =>
  Effect.gen(function* () {
    const old = releaseOf(from)
    const url = yield* (yield* cluster()).empty("rolling")
    run(old, "migrate", "--database-url", url)
    const session = yield* openMigrationSession(url)
    yield* session.run(BOTH_SCHEMAS)
    const sellers = yield* openSellers(session, old, url)
    const node = (name: string, release: typeof old) =>
      Effect.acquireRelease(
        Effect.promise(() => ServiceNode.start(name, release, url)),
        (one) => Effect.promise(() => one.stop())
      )
    const [first, second] = [yield* node("first", old), yield* node("second", old)]
    const traffic = new Traffic()
    traffic.nodes = [first, second]
    yield* filled(session, traffic, sellers[0]!, tickets)
    const running = yield* Effect.fork(Effect.promise(() => traffic.run(sellers)))
    const phase = (name: string, ms = PHASE_MS) => {
      traffic.phase = name
      return Effect.promise(() => setTimeout(ms))
    }
    yield* phase("old nodes")
    traffic.phase = "migrating"
    const dump = yield* Effect.fork(heldByDump(url))
    const { applied, took_ms, blocked_ms } = yield* watched(applyMigrations(url, {}, migrations(isExpanding)), session)
    console.log(`Applied ${applied.length} migrations in ${took_ms} ms: ${applied.join(", ")}`)
    console.log(`No statement of a request waited for a table for longer than ${blocked_ms} ms meanwhile`)
    yield* Fiber.join(dump)
    const migrated_at = Date.now()
    yield* phase("old nodes, new schema")
    for (const one of traffic.nodes) {
      const why = yield* Effect.promise(() => one.unready())
      console.log(`${one.name} on the new schema: ${why === undefined ? "ready" : `not ready: ${why}`}`)
    }
    const [sent] = yield* session.run<{ n: number }>(
      "select count(*)::integer as n from attempt where started_at > $1",
      [migrated_at]
    )
    console.log(`The old nodes made ${sent!.n} attempts to deliver since the migration`)
    const old_made = yield* walkIns(session)
    const third = yield* node("third", present)
    yield* phase("one replaced", 0)
    traffic.nodes = [third, second]
    yield* Effect.promise(() => first.stop())
    yield* phase("one replaced")
    const fourth = yield* node("fourth", present)
    yield* phase("both replaced", 0)
    traffic.nodes = [third, fourth]
    yield* Effect.promise(() => second.stop())
    yield* phase("both replaced")
    traffic.stop()
    yield* Fiber.join(running)
    const both_made = (yield* walkIns(session)) - old_made
    const [waiting] = yield* session.run<{ n: number }>("select count(*)::integer as n from queued_notification")
    console.log(`The nodes had ${both_made} walk-ins to notify since the first was replaced; ${waiting!.n} still wait`)
    traffic.phase = "read again"
    const missing = yield* Effect.promise(() => lost(traffic))
    return { traffic, blocked_ms, missing: [...missing, ...(yield* broken(session))] }
  })

/** Adds tickets to the first shop, so that the migration has rows to scan. */
const filled = (session: Session, traffic: Traffic, seller: Seller, tickets: number) =>
  Effect.gen(function* () {
    const body = { service: "Resoling", item: "Brown boots" }
    const asked = { method: "POST", path: "/v1/tickets", key: seller.key, body, idempotencyKey: "filled" } as const
    const ticket = yield* Effect.promise(() => traffic.ask<{ id: string }>(asked))
    if (ticket !== undefined && tickets > 0) yield* addTickets(session, seller, ticket.id, tickets)
    yield* session.run("analyze")
  })

/**
 * Upgrades two nodes of an earlier program to the current one while clients create, change and read tickets, and
 * measures the longest time for which requests were blocked and the lost acknowledged tickets.
 */
export const rolling = benchmark({
  about: "an upgrade of two nodes of an earlier program under load",
  options: {
    from: { about: "the commit of the old program", value: "HEAD" },
    expand: { about: "adds two migrations, as a later release may have: columns for six busy tables, and an index" },
    tickets: { about: "the number of tickets before the upgrade", value: "200000" }
  },
  args: { usual: [], quick: ["--tickets", "1000"] },
  run: async ({ from, expand, tickets }) => {
    const asked: Asked = { from, isExpanding: expand, tickets: Number(tickets) }
    const { traffic, blocked_ms, missing } = await Effect.runPromise(Effect.scoped(rolled(asked)))
    const phases = tableOf(traffic)
    console.table(phases)
    const unavailable = phases.reduce((sum, one) => sum + one["answers 503"], 0)
    return {
      rows: [
        {
          work: "longest wait of a request for a table",
          unit: "ms",
          ours: blocked_ms,
          target: { at_most: MAX_BLOCKED_MS }
        },
        { work: "answers 503", unit: "", ours: unavailable, target: { at_most: 0 } },
        { work: "acknowledged tickets, read again at the end", unit: "", ours: traffic.acknowledged.size }
      ],
      faults: [...traffic.failures, ...missing]
    }
  }
})
