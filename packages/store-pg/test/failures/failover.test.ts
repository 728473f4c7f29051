import { readFileSync } from "node:fs"
import type { IdempotencyKey } from "@workshop/core"
import { Deliveries, Reads } from "@workshop/core/store"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Exit, Fiber, Schedule, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { makeIdempotent } from "../../../core/src/decisions/Idempotency.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { freshCaller, openShop, runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import { record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { READS_ONLY } from "../../src/connection/SessionClient.js"
import { grantRoles } from "../../src/migrate/Roles.js"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"
import { installed, NOT_INSTALLED } from "../cluster/InstalledPostgres.js"
import { create, node, numbers, runTest, upTo } from "../nodes/Node.js"
import { complaints, withProbes } from "./notReadyReasons.js"

const LONG = { timeout: 180_000 }
const retrySchedule = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(600))

const urlOf = (...ports: ReadonlyArray<number>) =>
  `postgres://workshop@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres`

/** Starts and migrates a Postgres server, and returns it with the programs of its version. */
const primary = Effect.gen(function* () {
  const { run, start } = yield* installed
  run("initdb", "-D", "primary", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
  const port = yield* start("primary")
  yield* migrate(urlOf(port))
  return { run, start, port, session: yield* openMigrationSession(urlOf(port)) }
})

/** Starts a standby of the primary and returns its port. */
const standbyOf = ({ run, start, port }: Pick<Effect.Effect.Success<typeof primary>, "run" | "start" | "port">) => {
  const from = ["-h", "127.0.0.1", "-p", String(port), "-U", "workshop"]
  run("pg_basebackup", ...from, "-D", "standby", "-R", "-c", "fast")
  return start("standby")
}

describe.skipIf(NOT_INSTALLED !== "")(`on an installed Postgres (docs/operating.md)${NOT_INSTALLED}`, () => {
  it(
    "a promoted synchronous standby has every confirmed command, and nodes connect to it without a restart",
    LONG,
    () =>
      runTest(
        Effect.gen(function* () {
          const server = yield* primary
          const { port, session } = server
          const standby = yield* standbyOf(server)
          yield* session.run("alter system set synchronous_standby_names = '*'")
          yield* session.run("select pg_reload_conf()")
          yield* until(
            "the standby to be synchronous",
            session.run("select from pg_stat_replication where sync_state = 'sync'"),
            (rows) => rows.length > 0
          )

          // The address lists the standby first, so that the node must skip a read-only server.
          const ports = yield* node({ url: urlOf(standby, port), lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          const load = yield* Effect.fork(
            Effect.forEach(upTo(40), () => Effect.exit(Effect.provide(create(shop.id), ports)), { concurrency: 4 })
          )
          yield* until("six tickets", Effect.provide(numbers(shop.id), ports), (tickets) => tickets.length > 5)
          server.run("pg_ctl", "-D", "primary", "-m", "immediate", "stop")
          server.run("pg_ctl", "-D", "standby", "-w", "promote")

          const answered = (yield* Fiber.join(load)).filter(Exit.isSuccess).map(({ value }) => value)
          const after = yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(retrySchedule))
          const stored = yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.retry(retrySchedule))
          expect(stored).toEqual(upTo(after))
          expect([...answered, after].filter((number) => !stored.includes(number))).toEqual([])
          expect(new Set(answered).size).toBe(answered.length)
        })
      )
  )

  it(
    "a promoted asynchronous standby lacks the last confirmed commands, with the consequences that docs/operating.md describes",
    LONG,
    () =>
      runTest(
        Effect.gen(function* () {
          const server = yield* primary
          const standby = yield* standbyOf(server)
          const ports = yield* node({ url: `${urlOf(standby, server.port)}?target_session_attrs=read-write`, lanes: 1 })
          const [shop, caller_id] = yield* Effect.provide(Effect.zip(openShop(), freshCaller), ports)
          const making = (key: string) =>
            Effect.provide(
              runCommand(
                makeIdempotent(
                  { caller_id, operation: "tickets.create", key: key as IdempotencyKey, request: key },
                  createTicket(shop.id, ticketInput(), { via: "api", foundWords: [] })
                )
              ),
              ports
            )
          const delivered = Effect.flatMap(Deliveries, ({ claim }) => claim(Date.now(), 4)).pipe(
            Effect.tap((claims) =>
              Effect.forEach(claims, (claim) => record(claim, statusResult(200)), { discard: true })
            ),
            Effect.provide(ports)
          )
          const events = Effect.provide(
            Effect.flatMap(Reads, (reads) => reads.events(shop.id)),
            ports
          )
          yield* Effect.provide(
            runCommand(setWebhook(shop.id, { url: "https://shop.example/hook", secret: "whsec_1" })),
            ports
          )
          const kept = yield* making("kept")
          yield* delivered
          const [at] = yield* server.session.run<{ lsn: string }>("select pg_current_wal_flush_lsn()::text as lsn")
          const follower = yield* openMigrationSession(urlOf(standby))
          yield* until(
            "the standby to have what was written",
            follower.run<{ is_there: boolean }>("select pg_last_wal_replay_lsn() >= $1::pg_lsn as is_there", [at!.lsn]),
            ([row]) => row?.is_there === true
          )

          // Stops the replication, so that the standby lacks all later commits.
          yield* follower.run("alter system set primary_conninfo = ''")
          yield* follower.run("select pg_reload_conf()")
          yield* until(
            "the standby to follow no more",
            server.session.run("select from pg_stat_replication"),
            (rows) => rows.length === 0
          )
          const lost = yield* making("lost")
          expect([kept.data.number, lost.data.number]).toEqual([1, 2])
          const [delivery] = yield* delivered
          const before = yield* events
          const [pid] = yield* server.session.run<{ file: string }>("select pg_read_file('postmaster.pid') as file")
          const load = yield* Effect.fork(
            Effect.forEach(upTo(20), () => Effect.exit(Effect.provide(create(shop.id), ports)), { concurrency: 4 })
          )
          process.kill(Number.parseInt(pid!.file, 10), "SIGKILL")
          server.run("pg_ctl", "-D", "standby", "-w", "promote")
          yield* Fiber.join(load)

          // A retry replays the replicated ticket and creates the lost ticket again, with any free number.
          expect(yield* making("kept").pipe(Effect.retry(retrySchedule))).toMatchObject({
            replayed: true,
            data: kept.data
          })
          expect(yield* making("lost")).toMatchObject({ replayed: false })
          const stored = yield* Effect.provide(numbers(shop.id), ports)
          expect(stored).toEqual(upTo(stored.length))
          const after = yield* events
          // The lost ticket's number is reused, its delivered event no longer exists, and another event has that
          // event's seq.
          expect(stored).toContain(lost.data.number)
          expect(after.map(({ id }) => id)).not.toContain(delivery!.event_id)
          const seqs = after.map(({ seq }) => seq)
          expect(seqs).toEqual(upTo(seqs.length))
          expect(seqs).toContain(before.find(({ id }) => id === delivery!.event_id)!.seq)
          expect(new Set(after.map(({ id }) => id)).size).toBe(after.length)
        })
      )
  )

  it("a node on a standby is not ready and refuses writes with the reason, until the standby is promoted", LONG, () =>
    runTest(
      Effect.gen(function* () {
        const server = yield* primary
        const shop = yield* Effect.provide(openShop(), yield* node({ url: urlOf(server.port), lanes: 1 }))
        const standby = yield* standbyOf(server)
        const ports = yield* node({ url: urlOf(standby), lanes: 1 })
        yield* until("a standby that has the shop", complaints, (reasons) => reasons.length > 0)
        expect(yield* complaints).toEqual([READS_ONLY])
        expect(yield* Effect.flip(Effect.provide(create(shop.id), ports))).toMatchObject({ remedy: READS_ONLY })
        const refusal = yield* Effect.flip(grantRoles(urlOf(standby)))
        expect(refusal.message).toBe(READS_ONLY)

        server.run("pg_ctl", "-D", "standby", "-w", "promote")
        yield* until("a node that is ready", complaints, (reasons) => reasons.length === 0)
        expect(yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(retrySchedule))).toBe(1)
      }).pipe(withProbes) as Effect.Effect<void, unknown, Scope.Scope>
    )
  )

  it(
    "the pg_dump command in docs/operating.md dumps all tables, but no rows of rate_limit and batch_receipt",
    LONG,
    () =>
      runTest(
        Effect.gen(function* () {
          const { run: program, port, session } = yield* primary
          const ports = yield* node({ url: urlOf(port), lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          for (const n of upTo(3)) expect(yield* Effect.provide(create(shop.id), ports)).toBe(n)
          yield* session.run("insert into rate_limit values ('requests_per_minute', 'a key', 1, 0)")

          const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8")
          const [, flags] = /^pg_dump .*?(-Fc .*)-f workshop\.dump workshop$/m.exec(page)!
          const here = ["-h", "127.0.0.1", "-p", String(port), "-U", "workshop"]
          program(
            "pg_dump",
            ...here,
            ...flags!.replaceAll("'", "").trim().split(" "),
            "-f",
            "workshop.dump",
            "postgres"
          )
          // pg_dump ignores an exclusion that matches no table, so this checks that each documented exclusion has an
          // effect.
          for (const table of ["rate_limit", "batch_receipt"])
            expect(program("pg_restore", "--data-only", "-t", table, "-f", "-", "workshop.dump")).not.toMatch(/^COPY/m)
          program("createdb", ...here, "restored")
          program("pg_restore", ...here, "--no-owner", "--exit-on-error", "-d", "restored", "workshop.dump")

          const restored = yield* openMigrationSession(urlOf(port).replace(/postgres$/, "restored"))
          const kept = yield* counts(restored)
          const { rate_limit, batch_receipt, ...all } = yield* counts(session)
          expect([rate_limit, batch_receipt]).toEqual([1, 1])
          expect(kept).toEqual({ ...all, rate_limit: 0, batch_receipt: 0 })
          const restoredNode = yield* node({ url: urlOf(port).replace(/postgres$/, "restored"), lanes: 1 })
          expect(yield* Effect.provide(create(shop.id), restoredNode)).toBe(4)
        })
      )
  )
})

/** The number of rows of each table. */
const counts = (session: Session) =>
  Effect.gen(function* () {
    const tables = yield* session.run<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'workshop'::regnamespace and relkind = 'r' order by 1"
    )
    const rows: Record<string, number> = {}
    for (const { name } of tables)
      rows[name] = (yield* session.run<{ n: number }>(`select count(*)::integer as n from ${name}`))[0]!.n
    return rows
  })
