import { Deliveries } from "@workshop/core/store"
import { checkSchema } from "@workshop/store-pg/migrate"
import { Effect, Fiber, Ref, Schedule } from "effect"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openAccount, openShop, runCommand } from "../../../core/src/testing/Fixtures.js"
import { raisePings, record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { applyMigrations } from "../../src/cells/CellMigrations.js"
import { migrations as ours } from "../../src/migrate/generated/sql.js"
import { migrationsOf } from "../../src/migrate/Migration.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { capture } from "../captureStatements.mjs"
import { create, database, node, runTest } from "../nodes/Node.js"

const next = String(Object.keys(ours).length + 1).padStart(4, "0")

/** Adds a not-null column with a default to every table, which an old program's statements must tolerate. */
const EXPAND = `do $$ declare t record; begin
  for t in select c.oid::regclass as name from pg_class c
    where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'schema_migration'
    order by 1
  loop execute format('alter table %s add column added_later text not null default ''new''', t.name); end loop;
end $$;`

const waiting = Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(500))

/** Migrations of the first release that build an index with a lock; its tables were still small. */
const BLOCKING = ["0002_turns.sql", "0003_seen_clients.sql", "0006_partitions.sql", "0013_webhook_off.sql"]

const INDEX = /create (?:unique )?index (?!concurrently)\w+ on (\w+)/g

describe("the packaged migrations", () => {
  it("migrations build indexes of existing tables concurrently, because writes would otherwise be blocked", () => {
    const blocking = Object.entries(ours).filter(([, sql]) =>
      [...sql.matchAll(INDEX)].some(
        ([, table]) => !new RegExp(`create (unlogged )?table (if not exists )?${table}\\b`).test(sql)
      )
    )
    expect(blocking.map(([name]) => name)).toEqual(BLOCKING)
  })
})

describe("a node of the old release during a migration of the next release", { timeout: 60_000 }, () => {
  it("the old node serves without a pause and stays ready, while the migration waits for a dump and afterwards", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const ports = yield* node({ url })
        const { id } = yield* Effect.provide(openShop(), ports)
        const count = yield* Ref.make(0)
        const event = Effect.provide(runCommand(raisePings(id, [null])), ports)
        const load = yield* Effect.fork(
          Effect.repeat(
            Effect.zipRight(
              event,
              Ref.update(count, (n) => n + 1)
            ),
            Schedule.spaced("5 millis")
          )
        )
        const dump = yield* openMigrationSession(url)
        yield* dump.run("begin; lock table ticket in access share mode")
        const folder = migrationsOf({ ...ours, [`${next}_expand.sql`]: EXPAND })
        const migration = yield* Effect.fork(applyMigrations(url, {}, folder))
        // Waits until an attempt of the migration was rolled back, while the load continues.
        yield* session
          .run<{ n: number }>("select xact_rollback::int as n from pg_stat_database where datname = current_database()")
          .pipe(
            Effect.filterOrFail(([row]) => row!.n > 0),
            Effect.retry(waiting)
          )
        const before = yield* Ref.get(count)
        yield* Effect.retry(
          Effect.filterOrFail(Ref.get(count), (n) => n > before),
          waiting
        )
        yield* dump.run("commit")
        expect(yield* Fiber.join(migration)).toEqual([`${next}_expand`])
        yield* Fiber.interrupt(load)
        const n = yield* Ref.get(count)
        const events = yield* session.run<{ n: number }>("select count(*)::int as n from event")
        // The last create may have been saved although its response was interrupted.
        expect(events[0]!.n - n).toBeGreaterThanOrEqual(0)
        expect(events[0]!.n - n).toBeLessThanOrEqual(1)
        yield* checkSchema(url)
      })
    ))

  it("a migration that waits for a lock delays the old node's statements by at most 100 ms, because it gives its request up and retries", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const dump = yield* openMigrationSession(url)
        yield* dump.run("begin; lock table ticket in access share mode")
        const folder = migrationsOf({ ...ours, [`${next}_expand.sql`]: EXPAND })
        const { sent, stop } = capture()
        const migration = yield* Effect.fork(applyMigrations(url, {}, folder))
        const tries = session.run<{ n: number }>(
          "select xact_rollback::int as n from pg_stat_database where datname = current_database()"
        )
        // More rollbacks show that the migration gives its request up and retries.
        yield* Effect.retry(
          Effect.filterOrFail(tries, ([row]) => row!.n >= 2),
          waiting
        )
        yield* dump.run("commit")
        expect(yield* Fiber.join(migration)).toEqual([`${next}_expand`])
        stop()
        const waits = [...sent.keys()].flatMap((text) =>
          [...text.matchAll(/lock_timeout = '(\w+)'/g)].map(([, ms]) => ms)
        )
        expect(new Set(waits)).toEqual(new Set(["100ms"]))
      })
    ))

  it("the old node opens shops and accounts, creates tickets and delivers after every table got a new column", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const ports = yield* node({ url })
        yield* applyMigrations(url, {}, migrationsOf({ ...ours, [`${next}_expand.sql`]: EXPAND }))
        const delivered = yield* Effect.provide(
          Effect.gen(function* () {
            const { id } = yield* openShop()
            yield* openAccount()
            yield* create(id)
            yield* runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" }))
            yield* runCommand(raisePings(id, [null]))
            const [claim] = yield* (yield* Deliveries).claim(Date.now(), 9)
            return yield* record(claim!, statusResult(200))
          }),
          ports
        )
        expect(delivered).toBe("delivered")
        // Another node of the old release can start on the extended schema.
        const secondNode = yield* node({ url })
        yield* Effect.provide(openShop(), secondNode)
      })
    ))
})
