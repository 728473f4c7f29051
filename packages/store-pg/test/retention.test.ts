import type { ShopId } from "@workshop/core"
import { Deliveries, Reads } from "@workshop/core/store"
import { SettableClock, TEST_START } from "@workshop/core/testing"
import { Effect, Fiber, Layer, Logger, Schedule } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { setWebhook } from "../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand } from "../../core/src/testing/Fixtures.js"
import { raisePings } from "../../core/src/testing/TestDispatcher.js"
import { lockOf } from "../src/connection/Schema.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { layer, retention } from "../src/retention/Retention.js"
import { database, node, runTest } from "./nodes/Node.js"

const DAY = 24 * 60 * 60 * 1000
const JANUARY = Date.parse("2027-01-15T12:00:00Z")
const SHOP = "01890000-0000-7000-8000-000000000001"

const within = <A, E>(test: (clock: SettableClock) => Effect.Effect<A, E, import("effect").Scope.Scope>) => {
  const clock = new SettableClock(JANUARY)
  return runTest(test(clock), clock)
}

const countOf = (session: Session, table: string) =>
  Effect.map(session.run<{ n: number }>(`select count(*)::integer as n from ${table}`), ([row]) => row?.n)

/** Inserts one event with one attempt at each instant. */
const events = (session: Session, ...instants: ReadonlyArray<number>) =>
  Effect.forEach(instants, (created_at, seq) =>
    session.run(
      `with e as (insert into event select $1, gen_random_uuid(), 'ping', $2, null, $3, '{}' returning shop_id, id)
       insert into attempt select shop_id, id, 1, $3, 200, null, null, null, '{}', '' from e`,
      [SHOP, seq + 1, created_at]
    )
  )

const partitions = (session: Session) =>
  Effect.map(
    session.run<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event'::regclass order by 1"
    ),
    (rows) => rows.map(({ name }) => name)
  )

const AHEAD = ["event_2027_01", "event_2027_02", "event_2027_03"]

describe.concurrent("retention (docs/how-it-is-built.md)", { timeout: 90_000 }, () => {
  it("retention runs again at once if more rows have expired than one run removes, so that a backlog cannot grow", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run(
          "insert into rate_limit select 'requests_per_minute', n::text, 1, 1 from generate_series(1, 100500) n"
        )
        // Scheduled runs are five minutes apart, so only an immediate second run can empty the table in time.
        yield* Layer.build(layer({ url }))
        yield* until("an empty rate_limit", countOf(session, "rate_limit"), (count) => count === 0)
      })
    ))

  it("retention removes expired idempotency records and windows in batches of a thousand, and no record that is still valid", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run(
          `insert into idempotency_record select $1, 'caller', 'create', n::text, '', '', $2::bigint + n - 2500 from generate_series(1, 2600) n`,
          [SHOP, JANUARY]
        )
        yield* session.run(
          `insert into rate_limit select 'requests_per_minute', n::text, 1, $1::bigint + n * 45000 from generate_series(-4, 1) n`,
          [JANUARY]
        )
        yield* session.run(
          `insert into stamp_limit select $1, 'caller', gen_random_uuid(), 1, $2::bigint + n * 3600000 from generate_series(-3, 2) n`,
          [SHOP, JANUARY]
        )
        const { runOnce } = yield* retention({ url })
        expect((yield* runOnce)?.expired).toBe(2_500 + 3 + 3)
        expect(yield* countOf(session, "idempotency_record")).toBe(100)
        // Retention keeps windows for a minute more, because another node's clock may be behind.
        expect(yield* countOf(session, "rate_limit")).toBe(3)
        expect(yield* countOf(session, "stamp_limit")).toBe(3)
        expect((yield* runOnce)?.expired).toBe(0)
      })
    ))

  it("retention creates the partitions of this month and the next two once, and new rows are stored in them", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url })
        expect((yield* runOnce)?.created).toEqual([...AHEAD, "attempt_2027_01", "attempt_2027_02", "attempt_2027_03"])
        expect((yield* runOnce)?.created).toEqual([])
        yield* events(session, JANUARY, JANUARY + 40 * DAY, JANUARY + 400 * DAY)
        expect([yield* countOf(session, "event_2027_01"), yield* countOf(session, "event_2027_02")]).toEqual([1, 1])
        expect(yield* countOf(session, "event_rest")).toBe(1)
      })
    ))

  it("an event that is written while retention creates its month's partition is stored exactly once", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const ports = yield* node({ url })
        const shop = yield* Effect.provide(openShop(), ports)
        yield* Effect.provide(
          runCommand(setWebhook(shop.id, { url: "https://shop.example", secret: "whsec_1" })),
          ports
        )
        const maker = yield* openMigrationSession(url)
        const [from, to] = [Date.parse("2027-01-01T00:00:00Z"), Date.parse("2027-02-01T00:00:00Z")]
        yield* maker.run(`begin; select maintain_partition('attach', 'event', '2027_01', ${from}, ${to})`)
        clock.advance(1)
        const writer = yield* Effect.fork(Effect.provide(runCommand(raisePings(shop.id, [null])), ports))
        const waiting = session.run("select from pg_locks where not granted and relation = 'event_rest'::regclass")
        yield* until("a writer that waits for the default partition", waiting, ({ length }) => length > 0)
        yield* maker.run("commit")
        yield* writer
        expect([yield* countOf(session, "event_2027_01"), yield* countOf(session, "event_rest")]).toEqual([1, 0])
      })
    ))

  it("retention drops the partitions of months that are entirely too old, and removes old rows of the default partition", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url, keepEventsMs: 30 * DAY })
        yield* events(session, JANUARY - 31 * DAY, JANUARY - 29 * DAY)
        expect((yield* runOnce)?.removed).toBe(2)
        yield* events(session, JANUARY, JANUARY + 40 * DAY)
        clock.set(Date.parse("2027-03-02T23:59:59Z"))
        expect((yield* runOnce)?.dropped).toEqual([])
        clock.set(Date.parse("2027-03-03T00:00:00Z"))
        expect((yield* runOnce)?.dropped).toEqual(["event_2027_01", "attempt_2027_01"])
        expect(yield* partitions(session)).toEqual([
          "event_2027_02",
          "event_2027_03",
          "event_2027_04",
          "event_2027_05",
          "event_rest"
        ])
        expect([yield* countOf(session, "event"), yield* countOf(session, "attempt")]).toEqual([1, 1])
      })
    ))

  it("retention does not remove an old event that is still to be delivered, and the event is delivered", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url } = yield* database
        const { runOnce } = yield* retention({ url })
        yield* runOnce
        const ports = yield* node({ url })
        const shop = yield* Effect.provide(openShop(), ports)
        yield* Effect.provide(runCommand(raisePings(shop.id, [null])), ports)
        yield* Effect.provide(
          runCommand(setWebhook(shop.id, { url: "https://shop.example", secret: "whsec_1" })),
          ports
        )
        yield* Effect.provide(runCommand(raisePings(shop.id, [null])), ports)
        clock.advance(200 * DAY)
        expect((yield* runOnce)?.dropped).toEqual([
          "event_2027_01",
          "event_2027_02",
          "event_2027_03",
          "attempt_2027_01",
          "attempt_2027_02",
          "attempt_2027_03"
        ])
        const kept = yield* Effect.provide(
          Effect.flatMap(Reads, (reads) => reads.events(shop.id as ShopId)),
          ports
        )
        expect(kept.map(({ seq }) => seq)).toEqual([2])
        const claims = yield* Effect.provide(
          Effect.flatMap(Deliveries, (deliveries) => deliveries.claim(clock.unsafeCurrentTimeMillis(), 10)),
          ports
        )
        expect(claims.map(({ body }) => body)).toEqual(kept.map(({ body }) => body))
      })
    ))

  it("retention keeps attempts as long as their event, so that a replay continues their numbers", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* events(session, JANUARY)
        yield* session.run("update attempt set started_at = started_at - 1")
        const { runOnce } = yield* retention({ url, keepEventsMs: 30 * DAY })
        clock.set(JANUARY + 30 * DAY)
        expect((yield* runOnce)?.removed).toBe(0)
        clock.advance(1)
        expect((yield* runOnce)?.removed).toBe(2)
      })
    ))

  it("retention never waits for a lock: it leaves partitions that a session reads for the next run, and does not block writers", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url })
        yield* runOnce
        const reader = yield* openMigrationSession(url)
        yield* reader.run("begin; select count(*) from event")
        clock.advance(200 * DAY)
        const turn = yield* Effect.fork(runOnce)
        yield* events(session, TEST_START)
        // Attempts stay too while their events stay, because a replay continues their numbers.
        expect((yield* turn)?.dropped).toEqual([])
        yield* reader.run("commit")
        expect((yield* runOnce)?.dropped).toEqual([...AHEAD, "attempt_2027_01", "attempt_2027_02", "attempt_2027_03"])
      })
    ))

  it("retention runs in one process at a time", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url })
        yield* session.run(`select pg_advisory_lock(${lockOf(7305809)})`)
        expect(yield* runOnce).toBe(null)
        yield* session.run(`select pg_advisory_unlock(${lockOf(7305809)})`)
        expect(yield* runOnce).not.toBe(null)
      })
    ))

  it("after an interrupted run, another process can do the next run", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url })
        yield* runOnce
        const writer = yield* openMigrationSession(url)
        yield* writer.run("begin; lock table idempotency_record in access exclusive mode")
        const turn = yield* Effect.fork(runOnce)
        yield* until(
          "the turn to wait for the table",
          session.run("select from pg_locks where relation = 'idempotency_record'::regclass and not granted"),
          (rows) => rows.length > 0
        )
        yield* Fiber.interrupt(turn)
        yield* writer.run("rollback")
        const other = yield* retention({ url })
        yield* other.runOnce.pipe(
          Effect.filterOrFail((report) => report !== null),
          Effect.retry(Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(500)))
        )
      })
    ))

  it("retention under a role that may not change the schema removes rows in place of partitions", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const role = `limited_${new URL(url).pathname.slice(1)}`
        yield* session.run(
          `create role ${role}; grant usage on schema workshop to ${role}; grant select, insert, update, delete on all tables in schema workshop to ${role}`
        )
        yield* Effect.addFinalizer(() => Effect.orDie(session.run(`drop owned by ${role}; drop role ${role}`)))
        yield* events(session, JANUARY - 91 * DAY, JANUARY)
        const lines: Array<string> = []
        const log = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel.label} ${message}`))
        const { runOnce: unlogged } = yield* retention({ url: `${url}?options=-c%20role%3D${role}` })
        const runOnce = Effect.provide(unlogged, Logger.replace(Logger.defaultLogger, log))
        const missing = ["event_2027_02", "event_2027_03", "attempt_2027_02", "attempt_2027_03"]
        expect(yield* runOnce).toEqual({ created: [], missing, dropped: [], removed: 2, expired: 0, isMore: false })
        expect(lines).toEqual([
          expect.stringMatching(
            `^WARN These partitions for the coming months could not be created: ${missing.join(", ")}. `
          )
        ])
        expect([yield* countOf(session, "event"), yield* countOf(session, "attempt")]).toEqual([1, 1])
        yield* session.run(`grant execute on function maintain_partition(text, text, text, bigint, bigint) to ${role}`)
        const granted = yield* runOnce
        expect(granted).toMatchObject({ created: missing, missing: [] })
        expect(lines).toHaveLength(1)
      })
    ))

  it("retention creates the partitions of the months ahead even if the default partition has many rows", () =>
    within((clock) =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        const { runOnce } = yield* retention({ url })
        yield* runOnce
        // Rows below 2 kB are neither compressed nor moved to a TOAST table.
        yield* session.run(
          `insert into event select $1, gen_random_uuid(), 'ping', n, null, $2, repeat('x', 1900) from generate_series(1, 36000) n`,
          [SHOP, JANUARY - 60 * DAY]
        )
        clock.set(Date.parse("2027-03-01T00:00:00Z"))
        expect((yield* runOnce)?.created).toEqual([
          "event_2027_04",
          "event_2027_05",
          "attempt_2027_04",
          "attempt_2027_05"
        ])
        expect(yield* session.run("select conname from pg_constraint where conname = 'excluded'")).toEqual([])
      })
    ))

  it("retention removes delivered notifications and finished replays at the same age as events", () =>
    within(() =>
      Effect.gen(function* () {
        const { url, session } = yield* database
        for (const [n, age] of [91, 89, 91].entries())
          yield* session.run(
            `with n as (insert into notification (shop_id, id, client_id, type, ticket, ticket_id, created_at)
              select $1, gen_random_uuid(), gen_random_uuid(), 'ready', '{}', gen_random_uuid(), $2::bigint returning shop_id, id)
            insert into queued_notification select shop_id, id, 'client', 0, $2 from n where $3`,
            [SHOP, JANUARY - age * DAY, n === 2]
          )
        yield* session.run(
          `insert into replay select $1, gen_random_uuid(), '{}', 0, 0, n > 1, $2::bigint from generate_series(1, 3) n`,
          [SHOP, JANUARY - 91 * DAY]
        )
        const { runOnce } = yield* retention({ url })
        expect((yield* runOnce)?.expired).toBe(1 + 2)
        expect(yield* countOf(session, "notification")).toBe(2)
        expect(yield* countOf(session, "replay")).toBe(1)
      })
    ))
})
