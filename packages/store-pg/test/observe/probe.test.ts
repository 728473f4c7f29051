import * as Reactivity from "@effect/experimental/Reactivity"
import { Entropy, Probes } from "@workshop/core"
import { SettableClock } from "@workshop/core/testing"
import { PgStore } from "@workshop/store-pg"
import { Clock, Deferred, Effect, Layer, Logger, Metric, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import * as Sql from "../../src/connection/Sql.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { countPool, showListener } from "../../src/observe/PgMetrics.js"
import { pgProbe } from "../../src/observe/PgProbe.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { openFaultyProxy } from "../failures/FaultyProxy.js"

const shown = (name: string, label?: string) =>
  Metric.unsafeSnapshot()
    .filter(({ metricKey }) => metricKey.name === name)
    // Without a label, omits metrics with a cell, which another test in this process may have left.
    .filter(({ metricKey: { tags } }) =>
      label === undefined ? tags.every(({ key }) => key !== "cell") : tags.some(({ value }) => value === label)
    )
    .map(({ metricState }) => ("value" in metricState ? metricState.value : undefined))

const probing = Effect.gen(function* () {
  for (const { measure = Effect.void } of (yield* Probes) ?? []) yield* measure
})

const complaints = Effect.gen(function* () {
  const all = [...((yield* Probes) ?? [])].flatMap(({ complaint }) => (complaint === undefined ? [] : [complaint]))
  return yield* Effect.all(all)
})

const watched = <A, E>(work: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(work.pipe(Effect.scoped, Effect.provide(Probes.layer)))

/** A clock that differs from this machine's clock by `ms`. */
const off = (ms: number): Clock.Clock => {
  const clock = Clock.make()
  const read = clock.unsafeCurrentTimeMillis.bind(clock)
  return Object.assign(Clock.make(), { unsafeCurrentTimeMillis: () => read() + ms })
}

const readsOf = (url: string, connections: number) =>
  Layer.provide(
    Layer.unwrapScoped(Effect.map(Sql.readPool({ url, connections }), (pool) => Sql.readsOn(() => pool, {}))),
    Reactivity.layer
  )

const probeComplaints = (url: string, clock?: Clock.Clock) =>
  Effect.gen(function* () {
    yield* pgProbe("workshop", undefined, clock)
    return yield* complaints
  }).pipe(Effect.provide(readsOf(url, 1)))

/** The timeout is long because the first test of a run waits for the server's start. */
const LONG = { timeout: 90_000 }

describe("the metrics of the database", LONG, () => {
  it("the metrics report due deliveries and their age, disabled webhooks, the lanes, the pool and the listener", async () => {
    const clock = new SettableClock(Date.parse("2026-03-01T10:00:00Z"))
    const work = Effect.gen(function* () {
      const { url } = yield* testDatabase
      const store = yield* Layer.build(Layer.provideMerge(PgStore.layer({ url }), Entropy.layerSeeded(7)))
      yield* Effect.gen(function* () {
        const [open, off] = [yield* openShop(), yield* openShop()]
        for (const { id } of [open, off]) {
          yield* runCommand(setWebhook(id, { url: "https://example.com/", secret: "whsec_x" }))
          for (let n = 0; n < 3; n++) yield* runCommand(createTicket(id, ticketInput(), { via: "api", foundWords: [] }))
        }
        yield* (yield* openMigrationSession(url)).run("update webhook set off_reason = 'gone' where shop_id = $1", [
          off.id
        ])
        // Two notifications are due at `at`, and a third is due at `later`.
        const [at, later] = [Date.parse("2026-03-01T10:00:00Z"), Date.parse("2026-03-01T10:05:00Z")]
        yield* (yield* openMigrationSession(url)).run(
          `insert into queued_notification (shop_id, id, receiver, attempts_made, due_at)
            select $1, gen_random_uuid(), 'client', 0, due_at from unnest($2::bigint[]) due_at`,
          [open.id, [at, at + 1_000, later]]
        )
        clock.set(Date.parse("2026-03-01T10:01:30Z"))
        yield* probing
        const session = yield* openMigrationSession(url)
        // The listener connects in the background, so the test waits for it.
        yield* until(
          "the node to listen",
          Effect.map(session.run("select 1"), () => shown("workshop_pg_listener_connected")),
          ([connected]) => connected === 1
        )
      }).pipe(Effect.provide(store))
    })
    await watched(Effect.withClock(work, clock))
    expect(shown("workshop_deliveries_due")).toEqual([3])
    expect(shown("workshop_deliveries_oldest_due_seconds")).toEqual([90])
    expect(shown("workshop_webhooks_off")).toEqual([1])
    expect(shown("workshop_notifications_due", "client")).toEqual([2])
    expect(shown("workshop_notifications_oldest_due_seconds", "client")).toEqual([90])
    expect(shown("workshop_notifications_due", "owner")).toEqual([0])
    expect(shown("workshop_notifications_oldest_due_seconds", "owner")).toEqual([0])
    expect(shown("workshop_pg_oldest_transaction_id_age")[0]).toBeGreaterThan(0)
    expect(shown("workshop_store_waiting_commands", "contended")).toEqual([0])
    expect(shown("workshop_pg_pool_waiting")).toEqual([0])
    expect(shown("workshop_pg_pool_connections", "total")[0]).toBeGreaterThan(0)
    expect(shown("workshop_pg_listener_connected")).toEqual([0])
  })

  it("with several databases in a process, the metrics show a disconnected listener and the sum of the pools", async () => {
    const [one, other] = [{}, {}]
    const states = [
      [one, true],
      [other, false],
      [other, true],
      [other, false],
      [other, null],
      [one, null]
    ] as const
    const connected = []
    for (const [listener, isConnected] of states) {
      await Effect.runPromise(showListener(listener, isConnected))
      connected.push(shown("workshop_pg_listener_connected")[0])
    }
    expect(connected).toEqual([1, 0, 1, 0, 1, 0])

    await watched(
      Effect.gen(function* () {
        yield* countPool({ totalCount: 3, idleCount: 2, waitingCount: 0 })
        yield* countPool({ totalCount: 8, idleCount: 0, waitingCount: 5 })
        yield* probing
      })
    )
    expect(shown("workshop_pg_pool_connections", "total")).toEqual([11])
    expect(shown("workshop_pg_pool_connections", "idle")).toEqual([2])
    expect(shown("workshop_pg_pool_waiting")).toEqual([5])
  })

  it("the metrics count at most 2,000 due deliveries and notifications, so that a backlog does not make them slower", async () => {
    await watched(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        yield* session.run(`with shops as (select gen_random_uuid() as id from generate_series(1, 200)),
          turns as (insert into delivery_queue select id, 0, 0 from shops),
          hooks as (insert into webhook (shop_id, url, secret, failures_in_row, failure_steps_notified, generation, enabled_at)
            select id, 'https://shop.example/', 'whsec_1', 0, 0, 1, 0 from shops)
          insert into delivery (shop_id, event_id, type, seq, attempts_made, attempts_since_reset, due_at, generation, is_replay, token)
          select id, gen_random_uuid(), 'ping', n, 0, 0, n, 1, false, 0 from shops, generate_series(1, 60) n`)
        yield* session.run(`insert into queued_notification (shop_id, id, receiver, attempts_made, due_at)
          select gen_random_uuid(), gen_random_uuid(), 'client', 0, n from generate_series(1, 3000) n`)
        yield* pgProbe("workshop")
          .pipe(Effect.zipRight(probing))
          .pipe(Effect.provide(readsOf(url, 1)))
      })
    )
    expect(shown("workshop_deliveries_due")).toEqual([2_000])
    expect(shown("workshop_notifications_due", "client")).toEqual([2_000])
    expect(shown("workshop_deliveries_oldest_due_seconds")[0]).toBeGreaterThan(1_700_000_000)
  })

  it.each(["pg_replication_slots", "pg_prepared_xacts"])(
    "the metrics report the oldest snapshot, even if an entry of %s holds it without a session",
    async (view) => {
      await watched(
        Effect.gen(function* () {
          const { url } = yield* testDatabase
          const session = yield* openMigrationSession(url)
          const [row] = yield* session.run<{ name: string; xid: string }>(
            "select current_database() as name, pg_current_xact_id()::text as xid"
          )
          for (let n = 0; n < 500; n++) yield* session.run("select pg_current_xact_id()")
          // The test cluster's settings allow neither slots nor prepared transactions, so a view with the catalogue's
          // name shows an old one.
          const shown = { pg_replication_slots: "xmin", pg_prepared_xacts: "transaction" }
          yield* session.run(`create schema shown; create view shown.${view} as
            select '${row!.xid}'::xid as ${shown[view as keyof typeof shown]};
            alter database "${row!.name}" set search_path = shown, pg_catalog`)
          yield* Effect.provide(Effect.zipRight(pgProbe("workshop"), probing), readsOf(url, 1))
        })
      )
      expect(shown("workshop_pg_oldest_snapshot_transactions")[0]).toBeGreaterThanOrEqual(500)
    }
  )

  it("the metrics of a database are NaN while it is unreachable", async () => {
    const url = "postgres://nobody@127.0.0.1:1/nothing"
    await watched(
      Effect.gen(function* () {
        yield* pgProbe("workshop")
        yield* probing
      }).pipe(Effect.provide(readsOf(url, 1)))
    )
    expect(shown("workshop_deliveries_due")).toEqual([Number.NaN])
    expect(shown("workshop_notifications_due", "client")).toEqual([Number.NaN])
    expect(shown("workshop_pg_clock_offset_seconds")).toEqual([Number.NaN])
  })
})

describe("a node without a readiness probe", LONG, () => {
  it("a node without a readiness probe logs at the start that the database's schema version differs from the program's", async () => {
    const line = await Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* (yield* openMigrationSession(url)).run("delete from schema_migration")
        const first = yield* Deferred.make<string>()
        const log = Logger.make(({ message }) => void Effect.runSync(Deferred.succeed(first, String(message))))
        yield* Layer.build(Layer.provide(PgStore.layer({ url }), Entropy.layerSeeded(7))).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, log))
        )
        return yield* Deferred.await(first)
      }).pipe(Effect.scoped)
    )
    expect(line).toMatch(/^The schema .* of the database has version 0, but .*\. Run workshop migrate\.$/)
  })
})

describe("the readiness of a node", LONG, () => {
  it("a node whose clock differs from its database's by more than a second is not ready, and reports the direction (docs/operating.md)", async () => {
    const [right, slow, fast] = await watched(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        return [
          yield* probeComplaints(url),
          yield* probeComplaints(url, off(-60_000)),
          yield* probeComplaints(url, off(60_000))
        ]
      })
    )
    expect(right).toEqual([null])
    expect(slow?.at(-1)).toMatch(
      /^The clock of this machine is (60|59\.9\d*|60\.\d+) seconds behind the database's clock\. Set both /
    )
    expect(fast?.at(-1)).toMatch(
      /^The clock of this machine is (60|59\.9\d*|60\.\d+) seconds ahead of the database's clock\. Set both /
    )
  })

  it("a node whose database stops responding during the schema check is not ready, and is ready once the database responds", async () => {
    const reasons = await watched(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const proxy = yield* openFaultyProxy(url)
        return yield* Effect.gen(function* () {
          yield* pgProbe("workshop")
          proxy.pause()
          const silent = yield* complaints
          proxy.resume()
          yield* until("the node to be ready", complaints, ([first]) => first === null)
          const again = yield* complaints
          return [silent, again]
        }).pipe(Effect.provide(readsOf(proxy.url, 2)))
      })
    )
    expect(reasons).toEqual([["The database does not respond."], [null]])
  })

  it("a node is not ready if its database's schema is older than its own, or newer and unusable for it", async () => {
    const reasonsAfter = (change: string) =>
      watched(
        Effect.gen(function* () {
          const { url } = yield* testDatabase
          yield* (yield* openMigrationSession(url)).run(change)
          return yield* probeComplaints(url)
        })
      )
    expect(
      await reasonsAfter(`insert into schema_migration select max(version) + 1, 'later', '', max(applied_at), max(version) + 1
        from schema_migration`)
    ).toEqual([expect.stringContaining("Update the program")])
    expect(
      await reasonsAfter("delete from schema_migration where version = (select max(version) from schema_migration)")
    ).toEqual([expect.stringContaining("Run workshop migrate")])
  })
})
